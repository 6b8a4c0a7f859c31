// What the server tells of itself: API groups, versions, resources and their verbs, plain and
// aggregated; version. All texts are made once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"
#include "http/url.h"

namespace tau::apiserver {

class Discovery {
 public:
  Discovery();
  struct Found {
    std::string_view text, content_type;
  };
  // /api, /apis, /api/v1, /apis/{group}, /apis/{group}/{version}, /version; nullopt for other
  // paths.
  std::optional<Found> find(const http::Url& url, const http::Headers& headers) const;

 private:
  std::map<std::string, std::string> plain_;       // by path
  std::map<std::string, std::string> aggregated_;  // "/api" and "/apis"
};

}  // namespace tau::apiserver
