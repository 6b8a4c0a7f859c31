// Experiments: published results and proved facts that this program repeats, each as rows of what
// is published, what comes out here, and how far apart the two may be. The list is the one place
// that knows them all; the data they read is not part of the product and comes through a function.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tau::sim {

struct ExperimentRow {
  // How `ours` is judged: not at all; no further from `published` than `band`, or than that share
  // of it; or not below, or not above it.
  enum class Rule { shown, within, within_share, at_least, at_most };
  std::string name;
  std::optional<double> published;  // or what theory or a reference run says; none = nobody said
  double ours = 0;
  Rule rule = Rule::shown;
  double band = 0;
  int decimals = 3;  // that people are shown
  bool is_passed() const;
  // "+-0.5", "+-0.01 %", ">= 50000".
  std::string band_text() const;
};

struct ExperimentReport {
  std::vector<ExperimentRow> rows;
  std::vector<std::string> notes;  // what a reader has to know, one line each
  bool is_passed() const;
};

// What an experiment is given by its caller: this floor has no files and no clock.
struct ExperimentWorld {
  std::function<Result<std::string>(const std::string& name)> read;  // "swf/lublin_256.swf.gz"
  std::function<double()> now_s;                                     // a steady clock
  std::function<void(std::string_view)> say;                         // progress, for people
};

struct Experiment {
  const char* id;       // "x4"
  const char* subject;  // one line
  Result<ExperimentReport> (*run)(const ExperimentWorld& world);
};
std::span<const Experiment> experiments();
const Experiment* find_experiment(std::string_view id);

// One function per experiment, in experiment_*.cc.
Result<ExperimentReport> experiment_shortest_first(const ExperimentWorld& world);
Result<ExperimentReport> experiment_tiresias(const ExperimentWorld& world);
Result<ExperimentReport> experiment_small_checks(const ExperimentWorld& world);

// The text of a file of the data folder, unpacked where its name ends in .gz.
Result<std::string> read_data(const ExperimentWorld& world, const std::string& name);

}  // namespace tau::sim
