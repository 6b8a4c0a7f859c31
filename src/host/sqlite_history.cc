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
  static const TypeInfo type = table("pod", "", {field<&R::uid>("uid", ""), field<&R::name>("name", ""), field<&R::node>("node", ""), field<&R::attempt>("attempt", ""), field<&R::gpu_uuids>("gpus", ""),
      field<&R::gpu_product>("gpuProduct", ""), exact_time<&R::created>("created"), exact_time<&R::bound>("bound"), exact_time<&R::started>("started"), exact_time<&R::ended>("ended"),
      field<&R::phase>("phase", ""), field<&R::exit_code>("exitCode", ""), field<&R::signal>("signal", ""), field<&R::reason>("reason", "")});
  return type;
}
template <>
const TypeInfo& type_of<AttemptRecord>() {
  using R = AttemptRecord;
  static const TypeInfo type = table("attempt", "", {field<&R::number>("number", ""), exact_time<&R::admitted>("admitted"), exact_time<&R::started>("started"), exact_time<&R::ended>("ended"),
      field<&R::outcome>("outcome", ""), field<&R::reason>("reason", ""), field<&R::message>("message", "")});
  return type;
}
template <>
const TypeInfo& type_of<RunRecord>() {
  using R = RunRecord;
  static const TypeInfo type = table("run", "", {field<&R::uid>("uid", ""), field<&R::id>("id", ""), field<&R::kind>("kind", ""), field<&R::ns>("namespace", ""), field<&R::name>("name", ""), field<&R::queue>("queue", ""),
      field<&R::cluster_queue>("clusterQueue", ""), field<&R::user>("user", ""), field<&R::gpus_requested>("gpus", ""), field<&R::pods_requested>("pods", ""), exact_time<&R::submitted>("submitted"), exact_time<&R::admitted>("admitted"),
      exact_time<&R::started>("started"), exact_time<&R::ended>("ended"), exact_time<&R::deleted>("deleted"), field<&R::phase>("phase", ""), field<&R::reason>("reason", ""), field<&R::message>("message", ""),
      field<&R::attempts>("attempts", ""), field<&R::pods>("podList", "")});
  return type;
}
}  // namespace tau::meta

namespace tau::host {
using history::RunQuery;
using history::RunRecord;

Result<std::unique_ptr<SqliteHistory>> SqliteHistory::open(const std::string& path) {
  auto db = TRY(Sqlite::open(path));
  const char* setup =
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
      "CREATE TABLE IF NOT EXISTS schema_version(version INTEGER NOT NULL);"
      "INSERT INTO schema_version(version) SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM schema_version);"
      "CREATE TABLE IF NOT EXISTS runs(uid TEXT PRIMARY KEY, id TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL, queue TEXT NOT NULL, phase TEXT NOT NULL, submitted INTEGER NOT NULL, record TEXT NOT NULL);"
      "CREATE INDEX IF NOT EXISTS runs_by_name ON runs(name); CREATE INDEX IF NOT EXISTS runs_by_id ON runs(id); CREATE INDEX IF NOT EXISTS runs_by_time ON runs(submitted);";
  if (auto done = db.run(setup); !done) return std::unexpected(with_context(done.error(), path));
  auto version = TRY(Statement::prepare(db, "SELECT version FROM schema_version"));
  if (TRY(version.step()) && version.number(0) > 1) {
    return fail(ErrorCode::unsupported, fmt::format("{} was written by a newer version (schema {}, this one knows 1)", path, version.number(0)));
  }
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
  auto put = TRY(Statement::prepare(db_, "INSERT OR REPLACE INTO runs(uid, id, namespace, name, queue, phase, submitted, record) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"));
  put.bind(1, kept.uid).bind(2, kept.id).bind(3, kept.ns).bind(4, kept.name).bind(5, kept.queue).bind(6, kept.phase);
  put.bind(7, kept.submitted ? kept.submitted->time_since_epoch().count() : int64_t{0}).bind(8, meta::to_text(meta::encode(kept)));
  TRY(put.step());
  return {};
}

Result<std::vector<RunRecord>> SqliteHistory::query(const RunQuery& query) const {
  // The columns narrow; matches() decides, as in every other store.
  auto rows = TRY(Statement::prepare(db_,
      "SELECT record FROM runs WHERE (?1 = '' OR namespace = ?1) AND (?2 = '' OR name = ?2 OR uid = ?2 OR id = ?2 OR id GLOB ?3) AND (?4 = '' OR phase = ?4) AND (?5 = '' OR queue = ?5) ORDER BY submitted DESC, uid LIMIT ?6"));
  rows.bind(1, query.ns).bind(2, query.name_or_id).bind(3, query.name_or_id.starts_with("r-") && query.name_or_id.size() > 2 ? query.name_or_id + "*" : query.name_or_id);
  rows.bind(4, query.phase).bind(5, query.queue).bind(6, int64_t{query.limit});
  std::vector<RunRecord> found;
  while (TRY(rows.step())) {
    RunRecord run = TRY(meta::decode<RunRecord>(TRY(meta::parse_json(rows.text(0)))));
    if (history::matches(run, query)) found.push_back(std::move(run));
  }
  return found;
}

}  // namespace tau::host
