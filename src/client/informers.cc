#include "client/informers.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <set>

#include "http/codec.h"
#include "kube/watcher.h"
#include "meta/json.h"
#include "meta/type_info.h"

namespace tau::client {
namespace json = boost::json;
using kube::Kind;
using kube::ObjectKey;

// One kind's way from the wire to its store: the watcher decides, this sends and reads lines.
struct Informers::FeedBase {
  FeedBase(Informers& owner, Kind kind)
      : owner_(owner),
        kind_(kind),
        watcher_(kind, "",
                 {.object = [this](kube::Watcher::Event event,
                                   const json::value& object) { on_object(event, object); },
                  .list_began = [this] { on_list_began(); },
                  .list_ended = [this] { on_list_ended(); },
                  .complaint = [this](std::string text) { complain(text); }}) {}
  virtual ~FeedBase() {
    if (call_.value != 0) owner_.transport_.cancel(call_);
    owner_.loop_.cancel(timer_);
  }

  void send() {
    const auto request = watcher_.request();
    if (!request) {
      const Duration wait = std::max(watcher_.resume_at() - owner_.loop_.now(), Duration(0));
      timer_ = owner_.loop_.after(wait, [this] {
        watcher_.resume();
        send();
      });
      return;
    }
    status_ = 0;
    buffer_.clear();
    lines_ = http::LineSplitter();
    watcher_.on_sent(owner_.loop_.now());
    const bool is_watch = request->verb == kube::Verb::watch;
    http::ResponseCallbacks callbacks;
    callbacks.on_head = [this](const http::ResponseHead& head) { status_ = head.status; };
    callbacks.on_body = [this, is_watch](std::string_view bytes) { on_body(bytes, is_watch); };
    callbacks.on_end = [this, is_watch](Result<void> end) { on_end(std::move(end), is_watch); };
    call_ = owner_.transport_.send(kube::to_http(*request),
                                   is_watch ? Duration(0) : Duration(seconds(60)),
                                   std::move(callbacks));
  }

  void complain(const std::string& text) {
    ++owner_.bad_objects_;
    owner_.log_.warn("object passed over",
                     {{"kind", std::string(kube::info(kind_).kind_name)}, {"error", text}});
  }

  virtual bool is_synced() const = 0;

 protected:
  virtual void on_object(kube::Watcher::Event event, const json::value& object) = 0;
  virtual void on_list_began() = 0;
  virtual void on_list_ended() = 0;

  Informers& owner_;
  Kind kind_;

 private:
  void on_body(std::string_view bytes, bool is_watch) {
    if (!is_watch || status_ != 200) {
      buffer_ += bytes;
      return;
    }
    const auto is_watching = [this] { return watcher_.state() == kube::Watcher::State::watching; };
    const auto fed = lines_.feed(bytes, [&](std::string_view line) {
      if (is_watching()) watcher_.on_line(line, owner_.loop_.now(), owner_.rng_);
    });
    if (!is_watching()) {  // expired in mid-stream
      owner_.transport_.cancel(call_);
      call_ = {};
      owner_.loop_.post([alive = std::weak_ptr(alive_), this] {
        if (!alive.expired()) send();
      });
      return;
    }
    if (!fed) {
      complain("a watch line longer than any object may be");
      owner_.transport_.cancel(call_);
      call_ = {};
      watcher_.on_failure(fed.error(), owner_.loop_.now(), owner_.rng_);
      send();
    }
  }

  void on_end(Result<void> end, bool is_watch) {
    call_ = {};
    const Time now = owner_.loop_.now();
    if (!end) {
      watcher_.on_failure(end.error(), now, owner_.rng_);
    } else if (status_ != 200) {
      watcher_.on_failure(kube::to_error(status_, buffer_), now, owner_.rng_);
    } else if (is_watch) {
      watcher_.on_watch_end(now, owner_.rng_);
    } else {
      const std::string body = std::exchange(buffer_, {});
      watcher_.on_list(body, now, owner_.rng_);
    }
    send();
  }

  kube::Watcher watcher_;
  http::CallId call_;
  TimerId timer_;
  int status_ = 0;
  std::string buffer_;        // a list, or an error
  http::LineSplitter lines_;  // of a watch
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

template <class T>
class Informers::TypedFeed : public FeedBase {
 public:
  TypedFeed(Informers& owner) : FeedBase(owner, kube::kind_of<T>) {}
  bool is_synced() const override { return store().is_synced(); }

 protected:
  void on_object(kube::Watcher::Event event, const json::value& value) override {
    const ObjectKey key{std::string(meta::string_at(value, "metadata.namespace")),
                        std::string(meta::string_at(value, "metadata.name"))};
    if (is_listing_) listed_.insert(key);
    auto decoded = meta::decode<T>(value);
    if (!decoded) {
      complain(fmt::format("{}/{}: {}", key.ns, key.name, decoded.error().message));
      // What cannot be read is still there: its last readable state stays until it is deleted.
      if (event == kube::Watcher::Event::deleted)
        forget(key, meta::string_at(value, "metadata.uid"));
      return;
    }
    auto now = std::make_shared<const T>(std::move(*decoded));
    if (event == kube::Watcher::Event::deleted) {
      forget(key, now->metadata.uid, now);
      return;
    }
    const auto old = store().find(key);
    if (old && old->metadata.uid == now->metadata.uid) {
      if (old->metadata.resource_version == now->metadata.resource_version) return;
      store().put(now);
      owner_.publish(kube::Change<T>{old, now});
      return;
    }
    if (old) forget(key, old->metadata.uid);  // deleted and made again while we were away
    store().put(now);
    owner_.publish(kube::Change<T>{nullptr, now});
  }
  void on_list_began() override {
    listed_.clear();
    is_listing_ = true;
  }
  void on_list_ended() override {
    std::vector<typename kube::Store<T>::Pointer> gone;
    for (const auto& [key, object] : store().all()) {
      if (!listed_.contains(key)) gone.push_back(object);
    }
    for (const auto& object : gone) {
      forget({object->metadata.namespace_, object->metadata.name}, object->metadata.uid);
    }
    listed_.clear();
    is_listing_ = false;
    store().set_synced();
    owner_.check_synced();
  }

 private:
  kube::Store<T>& store() { return owner_.stores_.template get<T>(); }
  const kube::Store<T>& store() const { return owner_.stores_.template get<T>(); }
  // Told once per object: a deletion of what is not held, or of an older one of that name, is none.
  void forget(const ObjectKey& key, std::string_view uid,
              typename kube::Store<T>::Pointer last = nullptr) {
    const auto held = store().find(key);
    if (!held || held->metadata.uid != uid) return;
    store().remove(key);
    // The last state comes with the event; it is the one to remember.
    owner_.publish(kube::Change<T>{last ? last : held, nullptr});
  }

  std::set<ObjectKey> listed_;
  bool is_listing_ = false;
};

Informers::Informers(Loop& loop, http::Transport& transport, Rng rng, Log log)
    : loop_(loop), transport_(transport), rng_(rng), log_(std::move(log)) {}
Informers::~Informers() = default;

void Informers::follow(Kind kind) {
  if (feeds_.contains(kind)) return;
  const auto make = [this, kind]() -> std::unique_ptr<FeedBase> {
    switch (kind) {
      case Kind::namespace_:
        return std::make_unique<TypedFeed<kube::Namespace>>(*this);
      case Kind::node:
        return std::make_unique<TypedFeed<kube::Node>>(*this);
      case Kind::pod:
        return std::make_unique<TypedFeed<kube::Pod>>(*this);
      case Kind::event:
        return std::make_unique<TypedFeed<kube::Event>>(*this);
      case Kind::config_map:
        return std::make_unique<TypedFeed<kube::ConfigMap>>(*this);
      case Kind::secret:
        return std::make_unique<TypedFeed<kube::Secret>>(*this);
      case Kind::service_account:
        return std::make_unique<TypedFeed<kube::ServiceAccount>>(*this);
      case Kind::priority_class:
        return std::make_unique<TypedFeed<kube::PriorityClass>>(*this);
      case Kind::lease:
        return std::make_unique<TypedFeed<kube::Lease>>(*this);
      case Kind::job:
        return std::make_unique<TypedFeed<kube::Job>>(*this);
      case Kind::resource_flavor:
        return std::make_unique<TypedFeed<kube::ResourceFlavor>>(*this);
      case Kind::cluster_queue:
        return std::make_unique<TypedFeed<kube::ClusterQueue>>(*this);
      case Kind::local_queue:
        return std::make_unique<TypedFeed<kube::LocalQueue>>(*this);
      case Kind::cohort:
        return std::make_unique<TypedFeed<kube::Cohort>>(*this);
      case Kind::workload_priority_class:
        return std::make_unique<TypedFeed<kube::WorkloadPriorityClass>>(*this);
      case Kind::topology:
        return std::make_unique<TypedFeed<kube::Topology>>(*this);
      case Kind::workload:
        return std::make_unique<TypedFeed<kube::Workload>>(*this);
    }
    return nullptr;
  };
  feeds_[kind] = make();
  feeds_[kind]->send();
}

bool Informers::is_synced() const {
  return std::ranges::all_of(feeds_, [](const auto& feed) { return feed.second->is_synced(); });
}

void Informers::when_synced(std::move_only_function<void()> done) {
  waiting_.push_back(std::move(done));
  check_synced();
}

void Informers::check_synced() {
  if (waiting_.empty() || !is_synced()) return;
  for (auto& done : std::exchange(waiting_, {})) loop_.post(std::move(done));
}

void Informers::replay(const Listener& listener) const {
  const auto one = [&]<class T>(const kube::Store<T>& store) {
    for (const auto& [key, object] : store.all()) listener(kube::Change<T>{nullptr, object});
  };
  one(stores_.get<kube::Namespace>());
  one(stores_.get<kube::Node>());
  one(stores_.get<kube::Pod>());
  one(stores_.get<kube::ConfigMap>());
  one(stores_.get<kube::Secret>());
  one(stores_.get<kube::ServiceAccount>());
  one(stores_.get<kube::PriorityClass>());
  one(stores_.get<kube::Lease>());
  one(stores_.get<kube::Job>());
  one(stores_.get<kube::ResourceFlavor>());
  one(stores_.get<kube::ClusterQueue>());
  one(stores_.get<kube::LocalQueue>());
  one(stores_.get<kube::Cohort>());
  one(stores_.get<kube::WorkloadPriorityClass>());
  one(stores_.get<kube::Topology>());
  one(stores_.get<kube::Workload>());
}

void Informers::publish(const kube::AnyChange& change) {
  for (const Listener& listener : listeners_) listener(change);
}

}  // namespace tau::client
