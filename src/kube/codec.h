// Objects to JSON text and back, with apiVersion and kind.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "kube/resources.h"
#include "meta/type_info.h"

namespace tau::kube {

boost::json::object encode_object(Kind kind, const void* object);
// {"apiVersion":..., "kind":..., ...}
template <class T>
boost::json::object encode_object(const T& object) {
  return encode_object(kind_of<T>, static_cast<const void*>(&object));
}
std::string object_text(Kind kind, const void* object);
template <class T>
std::string object_text(const T& object) {
  return object_text(kind_of<T>, static_cast<const void*>(&object));
}

}  // namespace tau::kube
