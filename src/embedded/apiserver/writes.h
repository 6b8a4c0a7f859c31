// The writing verbs. Each takes the object's lock, computes the new state from the durable one,
// commits, and answers when the journal has it.
#pragma once

#include <boost/json/fwd.hpp>
#include <functional>
#include <memory>

#include "embedded/apiserver/body.h"
#include "embedded/apiserver/call.h"
#include "embedded/apiserver/service.h"

namespace tau::apiserver {

void create_object(Service& service, CallPointer call);
void update_object(Service& service, CallPointer call);
void patch_object(Service& service, CallPointer call);
void delete_object(Service& service, CallPointer call);
void delete_collection(Service& service, CallPointer call);
// POST .../pods/{name}/binding and /eviction, PUT /namespaces/{name}/finalize.
void bind_pod(Service& service, CallPointer call);
void evict_pod(Service& service, CallPointer call);
void finalize_namespace(Service& service, CallPointer call);

// ---- what they are made of

// What a write has decided. `object` is the new (or last) state.
struct Outcome {
  enum class What { put, erase, unchanged };
  What what = What::put;
  std::unique_ptr<boost::json::object> object;
  int status = 200;
  std::string answer;  // instead of the object
};
using Decide = std::move_only_function<Answer<Outcome>(const ObjectPointer& current)>;
// Runs `decide` under the lock of the call's object, carries it out (unless the call is a dry run)
// and calls `done` with what to answer. `done` runs once.
void write_object(Service& service, kube::Kind kind, kube::ObjectKey key, bool is_dry_run,
                  const Format& format, Decide decide,
                  std::move_only_function<void(Answer<std::pair<int, std::string>>)> done);

// Decides a deletion: at once, or marked and awaited (grace, finalizers).
Answer<Outcome> decide_deletion(Service& service, const kube::ResourceInfo& resource,
                                const ObjectPointer& current, const std::string& name,
                                const DeleteOptions& options);
// Defaults, admission and validation of an update; erases an object whose last finalizer went.
Answer<Outcome> decide_update(Service& service, const Call& call,
                              const boost::json::object& current, boost::json::object next);

}  // namespace tau::apiserver
