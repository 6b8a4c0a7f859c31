// Algebra that every policy rests on: no data, exact answers.
#include <array>

#include "sim/experiments.h"
#include "sim/policy_math.h"

namespace tau::sim {

Result<ExperimentReport> experiment_small_checks(const ExperimentWorld&) {
  using Rule = ExperimentRow::Rule;
  ExperimentReport report;
  const auto expect = [&](const char* name, double want, double got, double band = 1e-12) {
    report.rows.push_back(
        {.name = name, .published = want, .ours = got, .rule = Rule::within, .band = band});
  };
  const std::array capacity{9.0, 18.0};  // cores, GB
  const std::array demand{std::vector{1.0, 4.0}, std::vector{3.0, 1.0}};
  const auto shares = drf_fill(capacity, demand);
  expect("DRF: tasks of A (1 core, 4 GB)", 3, static_cast<double>(shares[0].tasks));
  expect("DRF: tasks of B (3 cores, 1 GB)", 2, static_cast<double>(shares[1].tasks));
  expect("DRF: dominant share of A", 2.0 / 3, shares[0].dominant_share);
  expect("DRF: dominant share of B", 2.0 / 3, shares[1].dominant_share);

  const FairTreeNode root{
      .children = {{.name = "A",
                    .shares = 60,
                    .usage = 0.8,
                    .children = {{.name = "a1", .usage = 0.5}, {.name = "a2", .usage = 0.3}}},
                   {.name = "B",
                    .shares = 40,
                    .usage = 0.2,
                    .children = {{.name = "b1", .usage = 0.15}, {.name = "b2", .usage = 0.05}}}}};
  expect("Fair Tree: level fairness of A", 0.75, level_fairness(root.children[0], root.children));
  expect("Fair Tree: level fairness of B", 2, level_fairness(root.children[1], root.children));
  const std::vector<std::string> want{"b2", "b1", "a2", "a1"};
  expect("Fair Tree: users of B before those of A (1 = yes)", 1, fair_tree_order(root) == want);

  const std::array samples{1.0, 10.0};
  expect("Gittins of {1, 10}: quantum 1", 0.5, gittins(samples, 0, 1));
  expect("Gittins of {1, 10}: quantum 10", 1 / 5.5, gittins(samples, 0, 10));
  expect("bounded slowdown: wait 90, run 1", 9.1, bounded_slowdown(90, 1));
  expect("bounded slowdown: wait 90, run 10", 10, bounded_slowdown(90, 10));
  return report;
}

}  // namespace tau::sim
