// Session: the way of a verb to an API server: which kubeconfig, one connection pool, calls that
// wait.
#pragma once

#include <boost/json/fwd.hpp>
#include <functional>
#include <memory>
#include <string>

#include "cmd/errors.h"
#include "cmd/output.h"
#include "host/asio_loop.h"
#include "http/message.h"
#include "kube/request.h"

namespace tau::cmd {

// Flags that every verb takes.
struct GlobalOptions {
  std::string kubeconfig, context, ns, state;
  std::string output = "table";
  Format format = Format::table;
  std::function<void(std::string_view)>
      note;  // a word to the person, on standard error; may be empty
};

class Session {
 public:
  static Try<std::unique_ptr<Session>> open(const GlobalOptions& options);
  ~Session();
  const std::string& ns() const { return ns_; }
  const std::string& server() const { return server_; }
  // False once a view had to be made here: then nobody keeps history.
  bool has_history() const { return serves_views_.value_or(true); }
  host::AsioLoop& loop() { return loop_; }
  http::Transport& transport() { return *transport_; }
  // The answer's JSON; a Status becomes a failure.
  Try<boost::json::value> call(const kube::ApiRequest& request);
  // What lies below /apis/view.taugrid.io is answered here (local_views.h), and said so once, where
  // the cluster does not serve it.
  Try<boost::json::value> get(const std::string& target);
  Try<http::Response> raw(http::Request request, Duration timeout = seconds(30));
  // Streams a body; returns when it ends, or when `stop` says so.
  Try<int> stream(http::Request request, const std::function<void(std::string_view)>& on_body,
                  const std::function<bool()>& stop);

 private:
  Session() = default;
  Try<boost::json::value> get_from_server(const std::string& target);
  bool serves_views();
  host::AsioLoop loop_;
  std::unique_ptr<http::Transport> transport_;
  std::string ns_, server_;
  std::function<void(std::string_view)> note_;
  std::optional<bool> serves_views_;  // unknown until a view was not found
};

// Where `tau up` keeps its state: --state, or ~/.tau.
std::string state_folder(const GlobalOptions& options);

}  // namespace tau::cmd
