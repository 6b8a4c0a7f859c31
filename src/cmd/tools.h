// Verbs for builders of clusters and of TauGrid itself.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <vector>

#include "cmd/errors.h"
#include "cmd/output.h"
#include "cmd/session.h"

namespace tau::cmd {

struct ToolOptions {
  int runs = 5;
  std::vector<std::string> files;
  std::string only;
  bool is_plane = false;     // --plane
  bool prints_json = false;  // --json, the short form of -o json
};
// One verb, three uses: seeds of the virtual platform, a trace on a described cluster, and
// published experiments.
struct SimulateOptions {
  std::string seeds = "1";
  bool prints_log = false;
  std::vector<std::string> experiments;
  std::string data;  // folder; "" = TAU_DATA_DIR
};
Outcome bench_apiserver(const GlobalOptions& global, const ToolOptions& options,
                        const Console& console);
Outcome bench_engine(const GlobalOptions& global, const ToolOptions& options,
                     const Console& console);
Outcome scenario(const ToolOptions& options, const Console& console);
Outcome simulate(const GlobalOptions& global, const SimulateOptions& options,
                 const Console& console);
// What benches and experiments print: the table, or the items as a list of that kind.
Outcome print_items(Format format, std::string_view kind, const Console& console,
                    const Table& table, boost::json::array items);

}  // namespace tau::cmd
