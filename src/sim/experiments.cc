#include "sim/experiments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/gunzip.h"

namespace tau::sim {

std::span<const Experiment> experiments() {
  static constexpr Experiment all[] = {
      {"x4", "Philly traces on 64 GPUs: SRTF and SRSF (Muri, SIGCOMM 2022)",
       &experiment_shortest_first},
      {"x5", "Philly traces on 64 GPUs: Tiresias 2D-LAS (Muri, SIGCOMM 2022)",
       &experiment_tiresias},
      {"x14", "small exact checks: DRF, Fair Tree, Gittins, bounded slowdown",
       &experiment_small_checks},
  };
  return all;
}

const Experiment* find_experiment(std::string_view id) {
  for (const Experiment& one : experiments()) {
    if (one.id == id) return &one;
  }
  return nullptr;
}

bool ExperimentRow::is_passed() const {
  if (rule == Rule::shown) return true;
  if (!published || std::isnan(ours)) return false;
  switch (rule) {
    case Rule::shown:
      return true;
    case Rule::within:
      return std::abs(ours - *published) <= band;
    case Rule::within_share:
      return std::abs(ours - *published) <= band * std::abs(*published);
    case Rule::at_least:
      return ours >= *published;
    case Rule::at_most:
      return ours <= *published;
  }
  return false;
}

std::string ExperimentRow::band_text() const {
  switch (rule) {
    case Rule::shown:
      return "";
    case Rule::within:
      return band == 0 ? "equal" : fmt::format("+-{}", band);
    case Rule::within_share:
      return fmt::format("+-{} %", band * 100);
    case Rule::at_least:
      return "at least";
    case Rule::at_most:
      return "at most";
  }
  return "";
}

bool ExperimentReport::is_passed() const {
  return std::ranges::all_of(rows, [](const ExperimentRow& row) { return row.is_passed(); });
}

Result<std::string> read_data(const ExperimentWorld& world, const std::string& name) {
  std::string text = TRY(world.read(name));
  if (!name.ends_with(".gz")) return text;
  auto plain = gunzip(text);
  if (!plain) return std::unexpected(with_context(plain.error(), name));
  return plain;
}

}  // namespace tau::sim
