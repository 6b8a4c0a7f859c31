// Every limit of the product, in one place. A limit that is met is reported by name and value.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tau::limits {

// http
constexpr size_t request_head_bytes = 64 * 1024;
constexpr size_t request_body_bytes = 3 * 1024 * 1024;     // as kube-apiserver
constexpr size_t response_body_bytes = 512 * 1024 * 1024;  // read by a client, not streamed
constexpr size_t connections = 4096;
constexpr size_t stream_backlog_bytes = 8 * 1024 * 1024;  // a slower watcher is ended
constexpr int idle_connection_s = 300;
constexpr int request_head_timeout_s = 15;

// apiserver
constexpr size_t object_bytes = 1536 * 1024;      // as etcd
constexpr size_t watch_history_events = 100'000;  // older resume points get 410 Gone
constexpr size_t watch_history_bytes = 64 * 1024 * 1024;
constexpr int list_page_items = 500;
constexpr int event_ttl_s = 3600;
constexpr int bookmark_interval_s = 60;
constexpr int json_depth = 64;

// kubelet
constexpr int64_t container_log_bytes = 10 * 1024 * 1024;  // per file, rotated
constexpr int container_log_files = 5;
constexpr int termination_grace_s = 30;

// client
constexpr int requests_in_flight = 64;
constexpr size_t kept_connections =
    128;  // more than requests in flight: a burst must not shake hands anew
constexpr int retry_first_ms = 100;
constexpr int retry_last_ms = 30'000;

// engine
constexpr int64_t search_steps = 200'000;  // per cycle
constexpr int gpus_per_node = 64;          // bits of a mask
constexpr int assume_expiry_s = 30;

// plane
constexpr int cycle_quiet_ms = 50;
constexpr int cycle_latest_ms = 250;

}  // namespace tau::limits
