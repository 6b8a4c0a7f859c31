// Reads a container's log files: a piece of the end, from a time on, or for as long as it grows.
#pragma once

#include <functional>
#include <string>

#include "base/loop.h"
#include "embedded/kubelet/container_runtime.h"

namespace tau::host {

// `is_ended` says that nothing more will be written. The returned function stops the reading; on_end comes once.
std::move_only_function<void()> start_log_reader(Loop& loop, std::string path, kubelet::LogQuery query, std::function<bool()> is_ended,
                                                 std::function<void(std::string_view)> on_data, std::move_only_function<void(Result<void>)> on_end);

}  // namespace tau::host
