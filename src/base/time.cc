#include "base/time.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>

namespace tau {
namespace {

struct Parts {
  std::chrono::year_month_day date;
  std::chrono::hh_mm_ss<Duration> clock;
};

Parts parts_of(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  return {std::chrono::year_month_day(day), std::chrono::hh_mm_ss<Duration>(time - day)};
}

std::string date_and_clock(const Parts& p) {
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", int(p.date.year()),
                     unsigned(p.date.month()), unsigned(p.date.day()), p.clock.hours().count(),
                     p.clock.minutes().count(), p.clock.seconds().count());
}

// Reads exactly `width` digits at `at`.
std::optional<int> digits(std::string_view text, size_t at, int width) {
  if (at + width > text.size()) return std::nullopt;
  int value = 0;
  for (int i = 0; i < width; ++i) {
    const char c = text[at + i];
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

}  // namespace

std::string format_rfc3339(Time time) {
  return date_and_clock(parts_of(time)) + "Z";
}

std::string format_rfc3339_micros(Time time) {
  const Parts p = parts_of(time);
  return fmt::format("{}.{:06}Z", date_and_clock(p), p.clock.subseconds().count());
}

Result<Time> parse_rfc3339(std::string_view text) {
  const auto bad = [&] {
    return fail(ErrorCode::bad_request,
                fmt::format("\"{}\" is not an RFC 3339 time such as 2026-12-01T05:37:43Z", text));
  };
  const auto year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
  const auto hour = digits(text, 11, 2), minute = digits(text, 14, 2), second = digits(text, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return bad();
  if (text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != 't') || text[13] != ':' ||
      text[16] != ':' || *hour > 23 || *minute > 59 || *second > 60) {
    return bad();
  }
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(*month),
                                         std::chrono::day(*day)};
  if (!date.ok()) return bad();
  size_t at = 19;
  int64_t micros = 0;
  if (at < text.size() && text[at] == '.') {
    int64_t scale = 100'000;
    const size_t first = ++at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
      micros += (text[at] - '0') * scale;
      scale /= 10;
    }
    if (at == first) return bad();
  }
  int offset_minutes = 0;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) {
    const auto oh = digits(text, at + 1, 2), om = digits(text, at + 4, 2);
    if (!oh || !om || text[at + 3] != ':' || *oh > 23 || *om > 59) return bad();
    offset_minutes = (text[at] == '-' ? -1 : 1) * (*oh * 60 + *om);
    at += 6;
  } else if (at < text.size() && (text[at] == 'Z' || text[at] == 'z')) {
    ++at;
  } else {
    return bad();
  }
  if (at != text.size()) return bad();
  return Time(std::chrono::sys_days(date)) + hours(*hour) + minutes(*minute - offset_minutes) +
         seconds(*second) + microseconds(micros);
}

// The thresholds are those of Kubernetes' duration.HumanDuration, so that ages look the same
// everywhere.
std::string format_age(Duration age) {
  const int64_t s = std::chrono::duration_cast<seconds>(age).count();
  if (s < -1) return "<invalid>";
  if (s < 0) return "0s";
  if (s < 120) return fmt::format("{}s", s);
  const int64_t m = s / 60;
  if (m < 10) return s % 60 == 0 ? fmt::format("{}m", m) : fmt::format("{}m{}s", m, s % 60);
  if (m < 180) return fmt::format("{}m", m);
  const int64_t h = s / 3600;
  if (h < 8) return m % 60 == 0 ? fmt::format("{}h", h) : fmt::format("{}h{}m", h, m % 60);
  if (h < 48) return fmt::format("{}h", h);
  const int64_t d = h / 24;
  if (h < 192) return h % 24 == 0 ? fmt::format("{}d", d) : fmt::format("{}d{}h", d, h % 24);
  if (d < 365 * 2) return fmt::format("{}d", d);
  const int64_t y = d / 365;
  if (d < 365 * 8) return d % 365 == 0 ? fmt::format("{}y", y) : fmt::format("{}y{}d", y, d % 365);
  return fmt::format("{}y", y);
}

Result<Duration> parse_duration(std::string_view text) {
  const auto bad = [&] {
    return fail(ErrorCode::bad_request,
                fmt::format("\"{}\" is not a duration such as 90s, 1h30m or 2d", text));
  };
  struct Unit {
    std::string_view name;
    double micros;
  };
  constexpr std::array<Unit, 8> units{{{"us", 1},
                                       {"µs", 1},
                                       {"ms", 1e3},
                                       {"ns", 1e-3},
                                       {"s", 1e6},
                                       {"m", 60e6},
                                       {"h", 3600e6},
                                       {"d", 86400e6}}};
  if (text.empty()) return bad();
  if (text == "0") return Duration(0);
  const bool is_negative = text.front() == '-';
  std::string_view rest = text;
  if (is_negative || rest.front() == '+') rest.remove_prefix(1);
  if (rest.empty()) return bad();
  double total = 0;
  while (!rest.empty()) {
    double value = 0, scale = 1;
    size_t at = 0;
    bool has_digit = false, in_fraction = false;
    for (; at < rest.size(); ++at) {
      const char c = rest[at];
      if (c == '.' && !in_fraction) {
        in_fraction = true;
      } else if (c >= '0' && c <= '9') {
        has_digit = true;
        if (in_fraction)
          value += (c - '0') * (scale /= 10);
        else
          value = value * 10 + (c - '0');
      } else {
        break;
      }
    }
    if (!has_digit) return bad();
    rest.remove_prefix(at);
    const Unit* unit = nullptr;
    for (const Unit& u : units) {
      if (rest.starts_with(u.name)) {
        unit = &u;
        break;
      }
    }
    if (unit == nullptr) return bad();
    rest.remove_prefix(unit->name.size());
    total += value * unit->micros;
  }
  if (total > 9e18) return bad();
  const auto micros = std::llround(total);
  return Duration(is_negative ? -micros : micros);
}

}  // namespace tau
