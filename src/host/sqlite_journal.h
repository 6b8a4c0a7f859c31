// SqliteJournal: the embedded server's state in one SQLite file (WAL). Appends gather while a
// commit is under way, so that many clients share one fsync; the loop never waits for the disk.
#pragma once

#include "base/loop.h"
#include "embedded/apiserver/journal.h"
#include "host/sqlite.h"

namespace tau::host {

enum class Durability { full, normal };  // full survives power loss, normal survives kill -9

class SqliteJournal : public apiserver::Journal {
 public:
  static Result<std::unique_ptr<SqliteJournal>> open(Loop& loop, const std::string& path,
                                                     Durability durability);
  ~SqliteJournal() override;
  Result<int64_t> replay(std::function<void(apiserver::JournalRow)> row) override;
  void append(std::vector<apiserver::JournalWrite> writes,
              std::move_only_function<void(Result<void>)> done) override;

 private:
  struct Entry {
    std::vector<apiserver::JournalWrite> writes;
    std::move_only_function<void(Result<void>)> done;
    Result<void> outcome;
  };
  using Batch = std::vector<Entry>;
  // What the worker touches; outlives the journal while a commit is under way.
  struct Core;
  SqliteJournal(Loop& loop, std::shared_ptr<Core> core);
  void commit();

  Loop& loop_;
  std::shared_ptr<Core> core_;
  Batch waiting_;
  bool is_committing_ = false;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace tau::host
