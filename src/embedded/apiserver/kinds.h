// The kinds' own rules as the server calls them: conversion between versions, defaults, validation.
#pragma once

#include <boost/json/fwd.hpp>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "embedded/apiserver/status.h"
#include "kube/resources.h"

namespace tau::apiserver {

// Between a served version and the stored one.
Answer<boost::json::value> to_stored(kube::Kind kind, boost::json::value object,
                                     std::string_view from_version);
boost::json::object to_version(kube::Kind kind, boost::json::object object,
                               std::string_view version);

// On create, after defaults: what the server generates, and a status that a client may not set.
void prepare_new(kube::Kind kind, boost::json::object& object);
void set_defaults(kube::Kind kind, boost::json::object& object);
std::vector<StatusCause> check_new(kube::Kind kind, const boost::json::object& object);
std::vector<StatusCause> check_change(kube::Kind kind, const boost::json::object& current,
                                      const boost::json::object& next,
                                      std::string_view subresource);

}  // namespace tau::apiserver
