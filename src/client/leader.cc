#include "client/leader.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/check.h"
#include "kube/codec.h"
#include "meta/fields.h"
#include "meta/json.h"

namespace tau::client {
namespace json = boost::json;
using kube::Kind;
using kube::Lease;

namespace {

Result<Lease> read_lease(const Result<http::Response>& answer) {
  const http::Response response = TRY(answer);
  if (response.status / 100 != 2) {
    return std::unexpected(kube::to_error(response.status, response.body));
  }
  const json::value parsed = TRY(meta::parse_json(response.body));
  return meta::decode<Lease>(parsed);
}

}  // namespace

Leader::Leader(Loop& loop, http::Transport& transport, Rng rng, LeaderOptions options,
               Callbacks callbacks)
    : loop_(loop),
      transport_(transport),
      rng_(rng),
      options_(std::move(options)),
      callbacks_(std::move(callbacks)) {
  CHECK(options_.renew_deadline < options_.lease && options_.retry < options_.renew_deadline);
}

Leader::~Leader() {
  loop_.cancel(timer_);
  loop_.cancel(deadline_);
  if (call_.value != 0) transport_.cancel(call_);
}

void Leader::start() {
  CHECK(state_ == State::idle);
  state_ = State::waiting;
  look();
}

void Leader::send(kube::ApiRequest request, std::move_only_function<void(const Answer&)> then) {
  call_ = http::send_whole(transport_, kube::to_http(request), options_.renew_deadline / 2,
                           [this, then = std::move(then)](Answer answer) mutable {
                             call_ = {};
                             then(answer);
                           });
}

void Leader::look() {
  send({.verb = kube::Verb::get, .kind = Kind::lease, .ns = options_.ns, .name = options_.name},
       [this](const Answer& answer) { saw(answer); });
}

void Leader::saw(const Answer& answer) {
  if (answer && answer->status == 404) {
    seen_.reset();
    write(true);
    return;
  }
  auto lease = read_lease(answer);
  if (!lease) {
    tell_trouble(lease.error());
    again_after(options_.retry);
    return;
  }
  if (!seen_ || seen_->metadata.resource_version != lease->metadata.resource_version) {
    seen_at_ = loop_.now();
  }
  seen_ = std::move(*lease);
  if (may_take(*seen_)) {
    write(false);
    return;
  }
  const std::string& holder = *seen_->holder_identity;
  if (state_ == State::leading) {
    depose(fmt::format("{} holds the lease now", holder));
    return;
  }
  if (std::exchange(told_holder_, holder) != holder && callbacks_.on_waiting) {
    callbacks_.on_waiting(holder);
  }
  again_after(options_.retry);
}

bool Leader::may_take(const Lease& lease) {
  const std::string holder = lease.holder_identity.value_or("");
  if (holder.empty() || holder == options_.identity) return true;
  const auto length = lease.lease_duration_seconds
                          ? Duration(seconds(*lease.lease_duration_seconds))
                          : options_.lease;
  return loop_.now() - seen_at_ >= length;
}

void Leader::write(bool is_new) {
  const Time now = loop_.now();
  Lease lease = seen_.value_or(Lease{});
  if (lease.holder_identity.value_or("") != options_.identity) {
    lease.acquire_time = now;
    if (!is_new) lease.lease_transitions = lease.lease_transitions.value_or(0) + 1;
  }
  lease.metadata.namespace_ = options_.ns;
  lease.metadata.name = options_.name;
  lease.holder_identity = options_.identity;
  lease.lease_duration_seconds = std::chrono::duration_cast<seconds>(options_.lease).count();
  lease.renew_time = now;
  kube::ApiRequest request;
  if (is_new) {
    request = kube::create_request(Kind::lease, options_.ns, kube::object_text(lease));
  } else {
    // Names the version that it was decided on: of two that try, one fails.
    json::object patch = meta::encode(lease).as_object();
    patch["metadata"] = json::object{{"resourceVersion", lease.metadata.resource_version}};
    request = kube::merge_patch(Kind::lease, options_.ns, options_.name, json::serialize(patch));
  }
  send(std::move(request), [this, now](const Answer& answer) { wrote(answer, now); });
}

void Leader::wrote(const Answer& answer, Time asked_at) {
  auto lease = read_lease(answer);
  if (!lease) {
    // Perhaps it took and only the answer is lost, perhaps another was faster: the next look tells.
    const bool is_race = answer && answer->status == 409;
    if (!is_race) tell_trouble(lease.error());
    again_after(options_.retry);
    return;
  }
  seen_ = std::move(*lease);
  seen_at_ = loop_.now();
  renewed_at_ = asked_at;
  loop_.cancel(deadline_);
  deadline_ =
      loop_.after(std::max(renewed_at_ + options_.renew_deadline - loop_.now(), Duration(0)),
                  [this] { depose("the lease could not be renewed in time"); });
  const bool is_first = state_ != State::leading;
  state_ = State::leading;
  again_after(options_.retry);
  if (is_first && callbacks_.on_leading) callbacks_.on_leading();
}

void Leader::tell_trouble(const Error& error) {
  if (std::exchange(told_trouble_, error.message) != error.message && callbacks_.on_trouble) {
    callbacks_.on_trouble(error.message);
  }
}

void Leader::again_after(Duration delay) {
  // A little jitter keeps those who wait from asking all at once.
  if (delay > Duration(0)) delay += Duration(rng_.between(0, delay.count() / 5));
  loop_.cancel(timer_);
  timer_ = loop_.after(delay, [this] { look(); });
}

void Leader::depose(std::string why) {
  if (state_ != State::leading) return;
  state_ = State::over;
  loop_.cancel(timer_);
  loop_.cancel(deadline_);
  if (call_.value != 0) transport_.cancel(std::exchange(call_, {}));
  if (callbacks_.on_deposed) callbacks_.on_deposed(std::move(why));
}

void Leader::release(std::function<void()> done) {
  const bool was_leading = state_ == State::leading;
  state_ = State::over;
  loop_.cancel(timer_);
  loop_.cancel(deadline_);
  if (call_.value != 0) transport_.cancel(std::exchange(call_, {}));
  if (!was_leading || !seen_) {
    if (done) done();
    return;
  }
  const json::object patch{
      {"metadata", json::object{{"resourceVersion", seen_->metadata.resource_version}}},
      {"spec", json::object{{"holderIdentity", ""}, {"leaseDurationSeconds", 1}}}};
  send(kube::merge_patch(Kind::lease, options_.ns, options_.name, json::serialize(patch)),
       [done = std::move(done)](const Answer&) {
         if (done) done();
       });
}

}  // namespace tau::client
