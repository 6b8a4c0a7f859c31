// What every object's life has in common, on JSON: metadata that belongs to the server, which part
// of an object a write may change, generation, deletion. The kinds' own rules (defaults,
// validation) are kube/validation.h.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "base/time.h"
#include "embedded/apiserver/call.h"
#include "kube/resources.h"

namespace tau::apiserver {

boost::json::object& metadata_of(boost::json::object& object);
// The member at a dotted path, or null.
const boost::json::value* find_in(const boost::json::object& object, std::string_view path);
std::string_view text_in(const boost::json::object& object,
                         std::string_view path);  // "" if it is no string
std::vector<std::string> finalizers_of(const boost::json::object& object);
bool is_deleting(const boost::json::object& object);
bool has_status_subresource(const kube::ResourceInfo& resource);
bool has_generation(const kube::ResourceInfo& resource);
bool is_custom_resource(
    const kube::ResourceInfo& resource);  // Kueue's kinds: a CRD's rules hold upstream

// Name or generateName, namespace against the path; 400 or 422. The name may still be empty
// afterwards.
std::optional<StatusError> check_identity(const Call& call, boost::json::object& object);
// Sets uid, creationTimestamp, generation; drops what a client may not set.
void stamp_new(const kube::ResourceInfo& resource, boost::json::object& object, Time now, Rng& rng);

// Brings a client's new state together with the current one: server-owned metadata is kept, a write
// to the object leaves its status, a write to "status" leaves the rest. Errors: another name, uid
// or resourceVersion.
Answer<boost::json::object> merge_update(const Call& call, const boost::json::object& current,
                                         boost::json::object next);
// After merging and defaulting: bumps the generation if what is wanted changed.
void bump_generation(const kube::ResourceInfo& resource, const boost::json::object& current,
                     boost::json::object& next);
// Equal but for resourceVersion.
bool is_same_state(const boost::json::object& a, const boost::json::object& b);

}  // namespace tau::apiserver
