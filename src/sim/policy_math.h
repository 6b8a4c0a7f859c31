// The small formulas that scheduling policies are made of, each with its source. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tau::sim {

// Dominant resource fairness by progressive filling (Ghodsi, NSDI 2011): the user with the
// smallest dominant share gets the next task, until none fits. Ties go to the first.
struct DrfShare {
  int64_t tasks = 0;
  double dominant_share = 0;
  bool operator==(const DrfShare&) const = default;
};
std::vector<DrfShare> drf_fill(std::span<const double> capacity,
                               std::span<const std::vector<double>> demand_per_user);

// Slurm's Fair Tree: siblings are ordered by shares over usage (both normalised among them), and
// everyone below the first comes before everyone below the second; equal siblings are merged.
struct FairTreeNode {
  std::string name;
  double shares = 1, usage = 0;
  std::vector<FairTreeNode> children;  // none = a user
};
double level_fairness(const FairTreeNode& node, std::span<const FairTreeNode> siblings);
// The users, first the one to be served first.
std::vector<std::string> fair_tree_order(const FairTreeNode& root);

// Gittins index of a job that was served for `age`, among jobs whose whole services are `samples`
// (Tiresias, NSDI 2019): chance to end within the quantum over the service that it costs.
double gittins(std::span<const double> samples, double age, double quantum);

// max(1, (wait + run) / max(run, threshold)) (Feitelson).
double bounded_slowdown(double wait, double run, double threshold = 10);

// 1 = all equal, 1/n = one has all (Jain 1984); 1 for nobody.
double jain_index(std::span<const double> values);

}  // namespace tau::sim
