#include "host/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace tau::host {

Result<Sqlite> Sqlite::open(const std::string& path) {
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
  Sqlite made(db);
  if (code != SQLITE_OK) return fail(ErrorCode::unavailable, fmt::format("cannot open {}: {}", path, db == nullptr ? "out of memory" : sqlite3_errmsg(db)));
  sqlite3_busy_timeout(db, 5000);
  return made;
}
Sqlite::~Sqlite() {
  if (db_ != nullptr) sqlite3_close_v2(db_);
}
Error Sqlite::error(std::string_view doing) const { return {ErrorCode::unavailable, fmt::format("{}: {}", doing, sqlite3_errmsg(db_))}; }
Result<void> Sqlite::run(const char* sql) const {
  if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return std::unexpected(error("database"));
  return {};
}

Result<Statement> Statement::prepare(const Sqlite& db, std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr) != SQLITE_OK) return std::unexpected(db.error("database"));
  return Statement(db, statement);
}
Statement::~Statement() { sqlite3_finalize(statement_); }
Statement& Statement::bind(int index, std::string_view text) {
  sqlite3_bind_text64(statement_, index, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}
Statement& Statement::bind(int index, int64_t number) {
  sqlite3_bind_int64(statement_, index, number);
  return *this;
}
Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    sqlite3_reset(statement_);
    return false;
  }
  Error error = db_->error("database");
  sqlite3_reset(statement_);
  return std::unexpected(std::move(error));
}
std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return bytes == nullptr ? std::string() : std::string(bytes, static_cast<size_t>(sqlite3_column_bytes(statement_, column)));
}
int64_t Statement::number(int column) const { return sqlite3_column_int64(statement_, column); }
void Statement::reset() { sqlite3_reset(statement_); }

}  // namespace tau::host
