#include "host/sqlite_journal.h"

#include <fmt/format.h>

namespace tau::host {
using apiserver::JournalRow;
using apiserver::JournalWrite;

struct SqliteJournal::Core {
  explicit Core(Sqlite d) : db(std::move(d)) {}
  Sqlite db;

  Result<void> write(const std::vector<JournalWrite>& writes) {
    auto put =
        TRY(Statement::prepare(db,
                               "INSERT INTO objects(key, revision, value) VALUES(?1, ?2, ?3) ON "
                               "CONFLICT(key) DO UPDATE SET revision = ?2, value = ?3"));
    auto erase = TRY(Statement::prepare(db, "DELETE FROM objects WHERE key = ?1"));
    auto mark = TRY(Statement::prepare(db, "UPDATE meta SET revision = max(revision, ?1)"));
    for (const JournalWrite& write : writes) {
      if (write.value)
        TRY(put.bind(1, write.key).bind(2, write.revision).bind(3, *write.value).step());
      else
        TRY(erase.bind(1, write.key).step());
      TRY(mark.bind(1, write.revision).step());
    }
    return {};
  }
  // All entries in one transaction; if that fails, none of it is kept and each hears why.
  void commit(Batch& batch) {
    Result<void> outcome = db.run("BEGIN IMMEDIATE");
    for (Entry& entry : batch) {
      if (outcome) outcome = write(entry.writes);
    }
    if (outcome) outcome = db.run("COMMIT");
    if (!outcome) (void)db.run("ROLLBACK");
    for (Entry& entry : batch) entry.outcome = outcome;
  }
};

SqliteJournal::SqliteJournal(Loop& loop, std::shared_ptr<Core> core)
    : loop_(loop), core_(std::move(core)) {}
SqliteJournal::~SqliteJournal() = default;

Result<std::unique_ptr<SqliteJournal>> SqliteJournal::open(Loop& loop, const std::string& path,
                                                           Durability durability) {
  auto db = TRY(Sqlite::open(path));
  TRY_VOID(db.run("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 2000;"));
  static constexpr const char* steps[] = {
      "CREATE TABLE IF NOT EXISTS objects(key TEXT PRIMARY KEY, revision INTEGER NOT NULL, value "
      "TEXT NOT NULL) WITHOUT ROWID;"
      "CREATE TABLE IF NOT EXISTS meta(schema INTEGER NOT NULL, revision INTEGER NOT NULL);"
      "INSERT INTO meta(schema, revision) SELECT 1, 0 WHERE NOT EXISTS (SELECT 1 FROM meta)",
  };
  TRY_VOID(db.migrate(steps));
  if (auto done = db.run(durability == Durability::full ? "PRAGMA synchronous = FULL"
                                                        : "PRAGMA synchronous = NORMAL");
      !done)
    return std::unexpected(done.error());
  return std::unique_ptr<SqliteJournal>(
      new SqliteJournal(loop, std::make_shared<Core>(std::move(db))));
}

Result<int64_t> SqliteJournal::replay(std::function<void(JournalRow)> row) {
  auto rows =
      TRY(Statement::prepare(core_->db, "SELECT key, revision, value FROM objects ORDER BY key"));
  while (TRY(rows.step())) row({rows.text(0), rows.number(1), rows.text(2)});
  auto meta = TRY(Statement::prepare(core_->db, "SELECT revision FROM meta"));
  if (!TRY(meta.step()))
    return fail(ErrorCode::internal, "the state file has no revision: it is damaged");
  return meta.number(0);
}

void SqliteJournal::append(std::vector<JournalWrite> writes,
                           std::move_only_function<void(Result<void>)> done) {
  waiting_.push_back({std::move(writes), std::move(done), {}});
  if (!is_committing_) commit();
}

void SqliteJournal::commit() {
  is_committing_ = true;
  auto batch = std::make_shared<Batch>(std::exchange(waiting_, {}));
  loop_.offload([core = core_, batch] { core->commit(*batch); },
                [this, batch, alive = std::weak_ptr(alive_)] {
                  if (alive.expired()) return;
                  is_committing_ = false;
                  for (Entry& entry : *batch) entry.done(std::move(entry.outcome));
                  if (!alive.expired() && !waiting_.empty() && !is_committing_) commit();
                });
}

}  // namespace tau::host
