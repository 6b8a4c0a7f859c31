// A thin hold on SQLite: a database and prepared statements that end themselves. Errors are
// results.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tau::host {

class Sqlite {
 public:
  static Result<Sqlite> open(const std::string& path);
  Sqlite(Sqlite&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Sqlite& operator=(Sqlite&&) = delete;
  ~Sqlite();
  // One or more statements without results.
  Result<void> run(const char* sql) const;
  // Brings the file to the newest schema: steps[n] leads from version n to n + 1, each in a
  // transaction of its own. A file from a newer program is refused.
  Result<void> migrate(std::span<const char* const> steps) const;
  Result<int64_t> schema_version() const;
  sqlite3* get() const { return db_; }
  Error error(std::string_view doing) const;

 private:
  explicit Sqlite(sqlite3* db) : db_(db) {}
  sqlite3* db_;
};

class Statement {
 public:
  static Result<Statement> prepare(const Sqlite& db, std::string_view sql);
  Statement(Statement&& other) noexcept
      : db_(other.db_), statement_(std::exchange(other.statement_, nullptr)) {}
  Statement& operator=(Statement&&) = delete;
  ~Statement();
  Statement& bind(int index, std::string_view text);
  Statement& bind(int index, int64_t number);
  Statement& bind(int index, std::optional<int64_t> number);  // nullopt = NULL
  // True = a row is there; false = done. The statement is reset once done.
  Result<bool> step();
  std::string text(int column) const;
  int64_t number(int column) const;
  void reset();

 private:
  Statement(const Sqlite& db, sqlite3_stmt* statement) : db_(&db), statement_(statement) {}
  const Sqlite* db_;
  sqlite3_stmt* statement_;
};

}  // namespace tau::host
