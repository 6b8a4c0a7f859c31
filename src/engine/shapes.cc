// Equal requests are one shape, equal work is one class: what is found out for one holds for all.
#include "engine/state.h"

namespace tau::engine {
namespace {
constexpr int64_t most_per_pod = int64_t{1}
                                 << 50;  // sums of any real cluster stay far from overflow
}

ShapeId Engine::State::intern_shape(Request request) {
  std::erase_if(request.amounts, [](const Amount& amount) {
    return amount.value <= 0 || amount.resource.value >= most_resources;
  });
  for (Amount& amount : request.amounts) amount.value = std::min(amount.value, most_per_pod);
  std::erase_if(request.amounts,
                [](const Amount& amount) { return amount.resource == engine::pods; });
  request.amounts.push_back({engine::pods, 1});
  std::ranges::sort(request.amounts);
  if (const auto found = shape_ids.find(request); found != shape_ids.end()) {
    ++shapes[found->second.index()].uses;
    return found->second;
  }
  ShapeId id;
  if (free_shapes.empty()) {
    id = ShapeId(static_cast<uint32_t>(shapes.size()));
    shapes.emplace_back();
  } else {
    id = free_shapes.back();
    free_shapes.pop_back();
  }
  nodes.ensure_columns(request.amounts);
  Shape& shape = shapes[id.index()];
  shape = {.request = request, .uses = 1, .fits = {}, .object_score = {}, .misfits = {}};
  shape.fits.resize(nodes.size());
  for (uint32_t n = 0; n < nodes.size(); ++n) check_object(shape, NodeId(n));
  shape_ids.emplace(std::move(request), id);
  return id;
}

void Engine::State::release_shape(ShapeId id) {
  if (!id.is_some()) return;
  Shape& shape = shapes[id.index()];
  CHECK(shape.uses > 0);
  if (--shape.uses > 0) return;
  shape_ids.erase(shape.request);
  shape = {};
  free_shapes.push_back(id);
}

// What the node's object says to the shape; kept until the object changes.
void Engine::State::check_object(Shape& shape, NodeId node) {
  const NodeFacts facts = nodes.facts(node);
  const Misfit misfit = static_misfit(shape.request, facts);
  shape.fits.resize(nodes.size());
  shape.fits.set(node.index(), misfit == Misfit::fits);
  if (!shape.misfits.empty()) {
    shape.misfits.resize(nodes.size(), Misfit::node_not_ready);
    shape.misfits[node.index()] = misfit;
  }
  const int64_t score = misfit == Misfit::fits ? object_score(shape.request, facts) : 0;
  if (score == 0 && shape.object_score.empty()) return;
  shape.object_score.resize(shape.fits.words().size() * 64);
  shape.object_score[node.index()] = score;
}

Engine::State::WorkClass Engine::State::class_of(const WorkloadState& workload) {
  return {workload.shapes, workload.counts, workload.min_counts, workload.topology};
}

ClassId Engine::State::intern_class(const WorkClass& work) {
  auto [at, is_new] = classes.try_emplace(work);
  if (is_new) {
    if (free_classes.empty()) {
      at->second.first = ClassId(static_cast<uint32_t>(classes.size() - 1));
    } else {
      at->second.first = free_classes.back();
      free_classes.pop_back();
    }
  }
  ++at->second.second;
  return at->second.first;
}

void Engine::State::release_class(const WorkClass& work) {
  const auto found = classes.find(work);
  if (found == classes.end() || --found->second.second > 0) return;
  free_classes.push_back(found->second.first);
  classes.erase(found);
}

}  // namespace tau::engine
