// YAML text to JSON values and back. Plain scalars are typed as kubectl types them (yes and on are
// true, 0x10 is 16); quoted ones stay text; anchors, aliases and merge keys are resolved. The one
// place that knows yaml-cpp.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tau::meta {

// One value per document; empty documents are left out. Errors name the line ("line 3: ...").
Result<std::vector<boost::json::value>> parse_yaml(std::string_view text);
// Block style, lists level with their key, members in the order held; ends with a newline.
std::string to_yaml(const boost::json::value& value);

}  // namespace tau::meta
