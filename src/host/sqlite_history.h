// SqliteHistory: run records in SQLite: one row a run, with what is asked by in columns and the
// whole as JSON.
#pragma once

#include "history/records.h"
#include "host/sqlite.h"

namespace tau::host {

class SqliteHistory : public history::HistoryStore {
 public:
  static Result<std::unique_ptr<SqliteHistory>> open(const std::string& path);
  Result<void> record(const history::RunRecord& run) override;
  Result<std::vector<history::RunRecord>> query(const history::RunQuery& query) const override;

 private:
  explicit SqliteHistory(Sqlite db) : db_(std::move(db)) {}
  Result<std::optional<history::RunRecord>> find(const std::string& uid) const;
  Sqlite db_;
};

}  // namespace tau::host
