// Time as a value. Nothing below `host` reads a clock: the present is always a parameter or
// Loop::now().
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tau {

using Duration = std::chrono::microseconds;
// Microseconds since the Unix epoch, UTC.
using Time = std::chrono::sys_time<Duration>;

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// "2026-12-01T05:37:43Z": what metav1.Time carries (fractions are cut).
std::string format_rfc3339(Time time);
// "2026-12-01T05:37:43.123456Z": what metav1.MicroTime carries.
std::string format_rfc3339_micros(Time time);
// Accepts both forms and numeric zone offsets.
Result<Time> parse_rfc3339(std::string_view text);

// Kubernetes' short age: "5s", "3m12s", "2h5m", "3d4h", "45d".
std::string format_age(Duration age);
// Accepts "90s", "1h30m", "250ms", "2d"; as Go's time.ParseDuration, and d for days.
Result<Duration> parse_duration(std::string_view text);

}  // namespace tau
