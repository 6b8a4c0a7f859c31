// Journal: where the embedded server's state lives. Real: SQLite (host). Other: memory (here),
// faulty (sim).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace tau::apiserver {

// One object's new state. `key` is "<group>/<resource>/<namespace>/<name>" (namespace "" for
// cluster scope).
struct JournalWrite {
  std::string key;
  int64_t revision = 0;              // the store's revision that this write makes
  std::optional<std::string> value;  // the object's JSON; nullopt = deleted
};

struct JournalRow {
  std::string key;
  int64_t revision = 0;
  std::string value;
};

class Journal {
 public:
  virtual ~Journal() = default;
  // Reads all live rows and the last revision. Called once, before any append; blocking (start-up
  // only).
  virtual Result<int64_t> replay(std::function<void(JournalRow)> row) = 0;
  // Makes the writes durable, all or none, then calls `done` on the loop. Appends become durable in
  // the order given; the implementation may commit several together. An error means that nothing of
  // it was kept.
  virtual void append(std::vector<JournalWrite> writes,
                      std::move_only_function<void(Result<void>)> done) = 0;
};

}  // namespace tau::apiserver
