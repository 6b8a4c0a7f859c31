#include "base/metrics.h"

#include <fmt/format.h>

#include <cmath>

#include "base/check.h"

namespace tau {
namespace {

std::string render(const MetricLabels& labels) {
  std::string out;
  for (const auto& [key, value] : labels) {
    if (!out.empty()) out += ',';
    (out += key) += "=\"";
    for (const char c : value) {
      if (c == '\n')
        out += "\\n";
      else if (c == '"' || c == '\\')
        (out += '\\') += c;
      else
        out += c;
    }
    out += '"';
  }
  return out;
}

std::string number(double value) {
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

std::string braces(const std::string& labels) {
  return labels.empty() ? std::string() : "{" + labels + "}";
}

}  // namespace

Metrics::Family& Metrics::family(std::string_view name, std::string_view help, Kind kind) {
  auto found = families_.find(name);
  if (found == families_.end()) {
    found = families_.emplace(std::string(name), Family{kind, std::string(help), {}, {}}).first;
  }
  CHECK(found->second.kind == kind);
  return found->second;
}

void Metrics::add(std::string_view name, std::string_view help, const MetricLabels& labels,
                  double amount) {
  CHECK(amount >= 0);
  family(name, help, Kind::counter).series[render(labels)].value += amount;
}

void Metrics::set(std::string_view name, std::string_view help, const MetricLabels& labels,
                  double value) {
  family(name, help, Kind::gauge).series[render(labels)].value = value;
}

void Metrics::remove(std::string_view name, const MetricLabels& labels) {
  const auto found = families_.find(name);
  if (found != families_.end()) found->second.series.erase(render(labels));
}

void Metrics::observe(std::string_view name, std::string_view help, const MetricLabels& labels,
                      std::span<const double> bounds, double value) {
  Family& f = family(name, help, Kind::histogram);
  if (f.bounds.empty()) f.bounds.assign(bounds.begin(), bounds.end());
  Series& series = f.series[render(labels)];
  series.buckets.resize(f.bounds.size());
  for (size_t i = 0; i < f.bounds.size(); ++i) {
    if (value <= f.bounds[i]) ++series.buckets[i];
  }
  series.value += value;
  ++series.count;
}

std::string Metrics::text() const {
  constexpr const char* kinds[] = {"counter", "gauge", "histogram"};
  std::string out;
  for (const auto& [name, f] : families_) {
    out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, f.help, name,
                       kinds[static_cast<int>(f.kind)]);
    for (const auto& [labels, series] : f.series) {
      if (f.kind != Kind::histogram) {
        out += fmt::format("{}{} {}\n", name, braces(labels), number(series.value));
        continue;
      }
      const std::string comma = labels.empty() ? "" : labels + ",";
      for (size_t i = 0; i < f.bounds.size(); ++i) {
        out += fmt::format("{}_bucket{{{}le=\"{}\"}} {}\n", name, comma, number(f.bounds[i]),
                           series.buckets[i]);
      }
      out += fmt::format("{}_bucket{{{}le=\"+Inf\"}} {}\n", name, comma, series.count);
      out += fmt::format("{}_sum{} {}\n", name, braces(labels), number(series.value));
      out += fmt::format("{}_count{} {}\n", name, braces(labels), series.count);
    }
  }
  return out;
}

}  // namespace tau
