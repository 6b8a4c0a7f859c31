#include "embedded/apiserver/expiry.h"

#include <boost/json.hpp>

#include "base/limits.h"
#include "embedded/apiserver/encode.h"
#include "embedded/apiserver/rules.h"
#include "embedded/apiserver/writes.h"

namespace tau::apiserver {
namespace {

constexpr Duration look_every = seconds(60);
constexpr Duration lifetime = seconds(limits::event_ttl_s);

}  // namespace

void EventExpiry::start() {
  for (const auto& [key, object] : service_.store.all(kube::Kind::event)) {
    const boost::json::object event = parse_object(*object);
    auto last = parse_rfc3339(text_in(event, "lastTimestamp"));
    if (!last) last = parse_rfc3339(text_in(event.at("metadata").as_object(), "creationTimestamp"));
    due_.push_back({last.value_or(service_.loop.now()) + lifetime, key, object->revision});
  }
  std::sort(due_.begin(), due_.end(), [](const Due& a, const Due& b) { return a.at < b.at; });
  prune();
}

void EventExpiry::stop() {
  service_.loop.cancel(timer_);
  timer_ = {};
}

void EventExpiry::on_event(const StoreEvent& event) {
  if (event.now->kind != kube::Kind::event || event.is_deletion) return;
  due_.push_back({service_.loop.now() + lifetime, event.now->key, event.revision});
}

void EventExpiry::prune() {
  while (!due_.empty() && due_.front().at <= service_.loop.now()) {
    const Due due = std::move(due_.front());
    due_.pop_front();
    const ObjectPointer present = service_.store.find(kube::Kind::event, due.key);
    if (!present || present->revision != due.revision) continue;
    write_object(
        service_, kube::Kind::event, due.key, false, {},
        [this, due](const ObjectPointer& current) -> Answer<Outcome> {
          DeleteOptions options{.precondition_version = std::to_string(due.revision)};
          return decide_deletion(service_, kube::info(kube::Kind::event), current, due.key.name,
                                 options);
        },
        [](Answer<std::pair<int, std::string>>) {
        });  // one that failed is looked at after the next restart
  }
  timer_ = service_.loop.after(look_every, [this] { prune(); });
}

}  // namespace tau::apiserver
