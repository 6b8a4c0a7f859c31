// Metrics: a registry of counters, gauges and histograms, one per plane, read as Prometheus text.
// No clock, no mutex: the loop's thread owns it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tau {

using MetricLabels = std::vector<std::pair<std::string, std::string>>;

class Metrics {
 public:
  // Adds to a counter. `help` of the first call is kept. Names end in _total.
  void add(std::string_view name, std::string_view help, const MetricLabels& labels,
           double amount = 1);
  void set(std::string_view name, std::string_view help, const MetricLabels& labels, double value);
  // Drops one series, e.g. of a deleted queue.
  void remove(std::string_view name, const MetricLabels& labels);
  // Observes a value in a histogram whose upper bounds are given at the first call.
  void observe(std::string_view name, std::string_view help, const MetricLabels& labels,
               std::span<const double> bounds, double value);
  // Prometheus text exposition format 0.0.4; families by name, series by labels.
  std::string text() const;

 private:
  enum class Kind { counter, gauge, histogram };
  struct Series {
    double value = 0;  // histogram: the sum
    uint64_t count = 0;
    std::vector<uint64_t> buckets;
  };
  struct Family {
    Kind kind = Kind::counter;
    std::string help;
    std::vector<double> bounds;
    std::map<std::string, Series> series;  // by rendered labels
  };
  Family& family(std::string_view name, std::string_view help, Kind kind);
  std::map<std::string, Family, std::less<>> families_;
};

}  // namespace tau
