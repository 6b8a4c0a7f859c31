#include "host/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace tau::host {

Result<Sqlite> Sqlite::open(const std::string& path) {
  sqlite3* db = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &db,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
  Sqlite made(db);
  if (code != SQLITE_OK)
    return fail(ErrorCode::unavailable,
                fmt::format("cannot open {}: {}", path,
                            db == nullptr ? "out of memory" : sqlite3_errmsg(db)));
  sqlite3_busy_timeout(db, 5000);
  return made;
}
Sqlite::~Sqlite() {
  if (db_ != nullptr) sqlite3_close_v2(db_);
}
Error Sqlite::error(std::string_view doing) const {
  const int code = sqlite3_errcode(db_) & 0xff;
  const char* path = sqlite3_db_filename(db_, "main");
  std::string message =
      fmt::format("{} {}: {}", doing, path == nullptr ? "" : path, sqlite3_errmsg(db_));
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) {
    return {
        ErrorCode::internal,
        message + " (put a copy of the file back, or move it away to begin without what it held)"};
  }
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED) message += " (another program holds the file)";
  return {ErrorCode::unavailable, std::move(message)};
}
Result<int64_t> Sqlite::schema_version() const {
  auto version = TRY(Statement::prepare(*this, "PRAGMA user_version"));
  TRY(version.step());
  return version.number(0);
}
Result<void> Sqlite::migrate(std::span<const char* const> steps) const {
  const int64_t version = TRY(schema_version());
  const auto known = static_cast<int64_t>(steps.size());
  if (version > known) {
    return fail(ErrorCode::unsupported,
                fmt::format("{} was written by a newer version of TauGrid (schema {}; this one "
                            "knows {}): use that one, or another state folder",
                            sqlite3_db_filename(db_, "main"), version, known));
  }
  for (int64_t step = version; step < known; ++step) {
    const std::string sql = fmt::format("BEGIN IMMEDIATE; {}; PRAGMA user_version = {}; COMMIT;",
                                        steps[static_cast<size_t>(step)], step + 1);
    if (auto done = run(sql.c_str()); !done) {
      sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
      return done;
    }
  }
  return {};
}
Result<void> Sqlite::run(const char* sql) const {
  if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    return std::unexpected(error("database"));
  return {};
}

Result<Statement> Statement::prepare(const Sqlite& db, std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr) !=
      SQLITE_OK)
    return std::unexpected(db.error("database"));
  return Statement(db, statement);
}
Statement::~Statement() {
  sqlite3_finalize(statement_);
}
Statement& Statement::bind(int index, std::string_view text) {
  sqlite3_bind_text64(statement_, index, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}
Statement& Statement::bind(int index, int64_t number) {
  sqlite3_bind_int64(statement_, index, number);
  return *this;
}
Statement& Statement::bind(int index, std::optional<int64_t> number) {
  if (number)
    sqlite3_bind_int64(statement_, index, *number);
  else
    sqlite3_bind_null(statement_, index);
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
  return bytes == nullptr
             ? std::string()
             : std::string(bytes, static_cast<size_t>(sqlite3_column_bytes(statement_, column)));
}
int64_t Statement::number(int column) const {
  return sqlite3_column_int64(statement_, column);
}
void Statement::reset() {
  sqlite3_reset(statement_);
}

}  // namespace tau::host
