#include "sim/policy_math.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace tau::sim {

std::vector<DrfShare> drf_fill(std::span<const double> capacity,
                               std::span<const std::vector<double>> demand_per_user) {
  std::vector<double> left(capacity.begin(), capacity.end());
  std::vector<DrfShare> shares(demand_per_user.size());
  const auto fits = [&](const std::vector<double>& demand) {
    CHECK(demand.size() == left.size());
    bool asks_anything = false;
    for (size_t r = 0; r < left.size(); ++r) {
      if (demand[r] > left[r]) return false;
      asks_anything |= demand[r] > 0;
    }
    return asks_anything;
  };
  while (true) {
    size_t next = shares.size();
    for (size_t user = 0; user < shares.size(); ++user) {
      if (!fits(demand_per_user[user])) continue;
      if (next == shares.size() || shares[user].dominant_share < shares[next].dominant_share)
        next = user;
    }
    if (next == shares.size()) return shares;
    ++shares[next].tasks;
    shares[next].dominant_share = 0;
    for (size_t r = 0; r < left.size(); ++r) {
      const double demand = demand_per_user[next][r];
      left[r] -= demand;
      if (capacity[r] > 0)
        shares[next].dominant_share =
            std::max(shares[next].dominant_share,
                     static_cast<double>(shares[next].tasks) * demand / capacity[r]);
    }
  }
}

double level_fairness(const FairTreeNode& node, std::span<const FairTreeNode> siblings) {
  double shares = 0, usage = 0;
  for (const FairTreeNode& one : siblings) {
    shares += one.shares;
    usage += one.usage;
  }
  if (node.usage == 0 || usage == 0 || shares == 0) return std::numeric_limits<double>::infinity();
  return node.shares / shares / (node.usage / usage);
}

namespace {

void add_users(std::vector<FairTreeNode> siblings, std::vector<std::string>& order) {
  std::vector<std::pair<double, const FairTreeNode*>> ranked;
  for (const FairTreeNode& one : siblings) ranked.emplace_back(level_fairness(one, siblings), &one);
  std::ranges::stable_sort(ranked, std::ranges::greater{},
                           &std::pair<double, const FairTreeNode*>::first);
  for (size_t i = 0; i < ranked.size();) {
    std::vector<FairTreeNode> below;
    const double fairness = ranked[i].first;
    for (; i < ranked.size() && ranked[i].first == fairness; ++i) {
      const FairTreeNode& one = *ranked[i].second;
      if (one.children.empty())
        order.push_back(one.name);
      else
        below.insert(below.end(), one.children.begin(), one.children.end());
    }
    if (!below.empty()) add_users(std::move(below), order);
  }
}

}  // namespace

std::vector<std::string> fair_tree_order(const FairTreeNode& root) {
  std::vector<std::string> order;
  add_users(root.children, order);
  return order;
}

double gittins(std::span<const double> samples, double age, double quantum) {
  double alive = 0, ending = 0, service = 0;
  for (const double whole : samples) {
    if (whole <= age) continue;
    ++alive;
    ending += whole - age <= quantum ? 1 : 0;
    service += std::min(whole - age, quantum);
  }
  return alive == 0 || service == 0 ? 0 : (ending / alive) / (service / alive);
}

double bounded_slowdown(double wait, double run, double threshold) {
  return std::max(1.0, (wait + run) / std::max(run, threshold));
}

double jain_index(std::span<const double> values) {
  double sum = 0, squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  return squares == 0 ? 1 : sum * sum / (static_cast<double>(values.size()) * squares);
}

}  // namespace tau::sim
