// Bodies in Kubernetes' protobuf form, which typed Go clients send (kubectl create namespace,
// drain, auth can-i): "k8s\0", then an envelope with apiVersion and kind around the message. They
// are read into JSON values. Answers are JSON always, which those clients accept too.
#pragma once

#include <boost/json/fwd.hpp>
#include <string_view>

#include "base/result.h"

namespace tau::apiserver {

Result<boost::json::value> parse_protobuf(std::string_view body);
// protobuf_fields.cc
extern const std::string_view protobuf_fields;

}  // namespace tau::apiserver
