#include "host/sqlite_history.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "history/memory_history.h"
#include "meta/fields.h"
#include "meta/json.h"

namespace tau::meta {
using namespace tau::history;
namespace json = boost::json;

template <>
struct Codec<int> {
  static constexpr TypeFunction type = &integer_type;
  static Result<void> decode(int& to, const json::value& from) {
    int64_t wide = 0;
    TRY_VOID(Codec<int64_t>::decode(wide, from));
    to = static_cast<int>(wide);
    return {};
  }
  static bool encode(int from, json::value& to) {
    to = from;
    return from != 0;
  }
};

// History keeps microseconds, unlike the API's seconds.
template <auto member>
Field exact_time(std::string_view name) {
  return field<member>(name, "", {.type = micro_time_type});
}

template <>
const TypeInfo& type_of<PodRecord>() {
  using R = PodRecord;
  static const TypeInfo type =
      table("pod", "",
            {field<&R::uid>("uid", ""), field<&R::name>("name", ""), field<&R::node>("node", ""),
             field<&R::attempt>("attempt", ""), field<&R::gpu_uuids>("gpus", ""),
             field<&R::gpu_product>("gpuProduct", ""), exact_time<&R::created>("created"),
             exact_time<&R::bound>("bound"), exact_time<&R::started>("started"),
             exact_time<&R::ended>("ended"), field<&R::phase>("phase", ""),
             field<&R::exit_code>("exitCode", ""), field<&R::signal>("signal", ""),
             field<&R::reason>("reason", "")});
  return type;
}
template <>
const TypeInfo& type_of<AttemptRecord>() {
  using R = AttemptRecord;
  static const TypeInfo type =
      table("attempt", "",
            {field<&R::number>("number", ""), exact_time<&R::admitted>("admitted"),
             exact_time<&R::started>("started"), exact_time<&R::ended>("ended"),
             field<&R::outcome>("outcome", ""), field<&R::reason>("reason", ""),
             field<&R::message>("message", "")});
  return type;
}
template <>
const TypeInfo& type_of<RunRecord>() {
  using R = RunRecord;
  static const TypeInfo type = table("run", "",
                                     {field<&R::uid>("uid", ""),
                                      field<&R::id>("id", ""),
                                      field<&R::kind>("kind", ""),
                                      field<&R::ns>("namespace", ""),
                                      field<&R::name>("name", ""),
                                      field<&R::queue>("queue", ""),
                                      field<&R::cluster_queue>("clusterQueue", ""),
                                      field<&R::user>("user", ""),
                                      field<&R::gpus_requested>("gpus", ""),
                                      field<&R::pods_requested>("pods", ""),
                                      exact_time<&R::submitted>("submitted"),
                                      exact_time<&R::admitted>("admitted"),
                                      exact_time<&R::started>("started"),
                                      exact_time<&R::ended>("ended"),
                                      exact_time<&R::deleted>("deleted"),
                                      field<&R::phase>("phase", ""),
                                      field<&R::reason>("reason", ""),
                                      field<&R::message>("message", ""),
                                      field<&R::attempts>("attempts", ""),
                                      field<&R::pods>("podList", "")});
  return type;
}
}  // namespace tau::meta

namespace tau::host {
using history::RunQuery;
using history::RunRecord;

Result<std::unique_ptr<SqliteHistory>> SqliteHistory::open(const std::string& path) {
  auto db = TRY(Sqlite::open(path));
  // What is lost with the power is at most the last moments; the loop never waits for the disk.
  TRY_VOID(db.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"));
  static constexpr const char* steps[] = {
      "CREATE TABLE IF NOT EXISTS runs(uid TEXT PRIMARY KEY, id TEXT NOT NULL, namespace TEXT NOT "
      "NULL, name TEXT NOT NULL, queue TEXT NOT NULL, phase TEXT NOT NULL, submitted INTEGER, "
      "record TEXT NOT NULL);"
      "CREATE INDEX IF NOT EXISTS runs_by_name ON runs(name);"
      "CREATE INDEX IF NOT EXISTS runs_by_id ON runs(id);"
      "CREATE INDEX IF NOT EXISTS runs_by_time ON runs(submitted)",
  };
  TRY_VOID(db.migrate(steps));
  return std::unique_ptr<SqliteHistory>(new SqliteHistory(std::move(db)));
}

Result<std::optional<RunRecord>> SqliteHistory::find(const std::string& uid) const {
  auto row = TRY(Statement::prepare(db_, "SELECT record FROM runs WHERE uid = ?1"));
  if (!TRY(row.bind(1, uid).step())) return std::nullopt;
  return TRY(meta::decode<RunRecord>(TRY(meta::parse_json(row.text(0)))));
}

Result<void> SqliteHistory::record(const RunRecord& run) {
  const auto before = TRY(find(run.uid));
  const RunRecord kept = history::merged(before ? &*before : nullptr, run);
  auto put =
      TRY(Statement::prepare(db_,
                             "INSERT OR REPLACE INTO runs(uid, id, namespace, name, queue, phase, "
                             "submitted, record) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"));
  put.bind(1, kept.uid)
      .bind(2, kept.id)
      .bind(3, kept.ns)
      .bind(4, kept.name)
      .bind(5, kept.queue)
      .bind(6, kept.phase);
  put.bind(7, kept.submitted ? std::optional(kept.submitted->time_since_epoch().count())
                             : std::nullopt)
      .bind(8, meta::to_text(meta::encode(kept)));
  TRY(put.step());
  return {};
}

Result<std::vector<RunRecord>> SqliteHistory::query(const RunQuery& query) const {
  // As matches() decides, in the store's own words, so that the limit counts what is found.
  auto rows = TRY(Statement::prepare(db_,
                                     "SELECT record FROM runs WHERE (?1 = '' OR namespace = ?1) "
                                     "AND (?2 = '' OR phase = ?2) AND (?3 = '' OR queue = ?3)"
                                     " AND (?4 = '' OR name = ?4 OR uid = ?4 OR id = ?4 OR (?5 AND "
                                     "substr(id, 1, length(?4)) = ?4))"
                                     " AND (?6 IS NULL OR submitted >= ?6) AND (?7 IS NULL OR "
                                     "submitted < ?7) ORDER BY submitted DESC, uid LIMIT ?8"));
  const auto micros = [](const std::optional<Time>& time) {
    return time ? std::optional(time->time_since_epoch().count()) : std::nullopt;
  };
  rows.bind(1, query.ns).bind(2, query.phase).bind(3, query.queue).bind(4, query.name_or_id);
  rows.bind(5, int64_t{query.name_or_id.starts_with("r-") && query.name_or_id.size() > 2});
  rows.bind(6, micros(query.since))
      .bind(7, micros(query.until))
      .bind(8, int64_t{std::max(0, query.limit)});
  std::vector<RunRecord> found;
  while (TRY(rows.step())) {
    RunRecord run = TRY(meta::decode<RunRecord>(TRY(meta::parse_json(rows.text(0)))));
    if (history::matches(run, query)) found.push_back(std::move(run));
  }
  return found;
}

}  // namespace tau::host
