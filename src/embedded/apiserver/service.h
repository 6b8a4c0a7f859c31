// What the parts of the server share: the state, the watches, chance, log, options.
#pragma once

#include "embedded/apiserver/server.h"
#include "embedded/apiserver/store.h"
#include "embedded/apiserver/watches.h"

namespace tau::apiserver {

struct Service {
  Loop& loop;
  ObjectStore store;
  Watches watches;
  Rng rng;
  Log log;
  Options options;

  Service(Loop& l, Journal& journal, Rng r, Log lg, Options o)
      : loop(l),
        store(l, journal, {o.history_events, o.history_bytes}),
        watches(l, store),
        rng(r),
        log(std::move(lg)),
        options(std::move(o)) {}
};

}  // namespace tau::apiserver
