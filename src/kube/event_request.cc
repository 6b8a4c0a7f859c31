#include "kube/event_request.h"

#include <fmt/format.h>

#include "kube/codec.h"

namespace tau::kube {

ApiRequest event_on(Kind kind, const ObjectMeta& metadata, std::string_view type,
                    std::string_view reason, std::string message, std::string_view component,
                    Time now, Rng& rng) {
  const ResourceInfo& resource = info(kind);
  Event event;
  event.metadata.namespace_ = metadata.namespace_.empty() ? "default" : metadata.namespace_;
  event.metadata.name = fmt::format("{}.{:016x}", metadata.name, rng.next());
  event.involved_object = {.api_version = api_version(resource),
                           .kind = std::string(resource.kind_name),
                           .namespace_ = metadata.namespace_,
                           .name = metadata.name,
                           .uid = metadata.uid,
                           .resource_version = metadata.resource_version};
  event.type = type;
  event.reason = reason;
  event.message = std::move(message);
  event.source_component = component;
  event.reporting_component = component;
  event.first_timestamp = event.last_timestamp = now;
  event.count = 1;
  return create_request(Kind::event, event.metadata.namespace_, object_text(event));
}

}  // namespace tau::kube
