#include "tests/simulation/checkers/head_plan_model.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "controller/core/schedule/head_promise.h"

namespace trainyard::simulation {

using controller::kNever;

int HeadPlanModel::FreeFor(const ModelHead& head, const std::string& node, Timestamp time) const {
  int free = 0;
  for (const ModelSlot& slot : nodes_.at(node)) {
    free += slot.job_id == head.job_id || slot.free_at <= time ? 1 : 0;
  }
  const auto uses = uses_.find(node);
  if (uses == uses_.end()) return free;
  for (const Use& use : uses->second) {
    if (use.from <= time && time < use.until) free -= use.slots;
  }
  return free;
}

int HeadPlanModel::KeptBy(const ModelHead& head, const std::string& node) const {
  return static_cast<int>(std::ranges::count(nodes_.at(node), head.job_id, &ModelSlot::job_id));
}

bool HeadPlanModel::Fits(const ModelHead& head, const std::string& node, Timestamp time) const {
  std::set<Timestamp> times = {time};
  if (const auto uses = uses_.find(node); uses != uses_.end()) {
    for (const Use& use : uses->second) {
      if (use.from > time && use.from < time + head.hold_ms) times.insert(use.from);
    }
  }
  return std::ranges::all_of(times, [&](const Timestamp at) {
    return FreeFor(head, node, at) >= head.shape.slots_per_node;
  });
}

Timestamp HeadPlanModel::Plan(const ModelHead& head) {
  std::set<Timestamp> times = {now_};
  for (const auto& [id, slots] : nodes_) {
    for (const ModelSlot& slot : slots) times.insert(std::max(now_, slot.free_at));
  }
  for (const auto& [id, uses] : uses_) {
    for (const Use& use : uses) times.insert(use.until);
  }
  for (const Timestamp time : times) {
    if (time == kNever) break;
    std::vector<std::tuple<bool, int, std::string>> nodes;
    for (const auto& [id, slots] : nodes_) {
      if (!Fits(head, id, time)) continue;
      nodes.emplace_back(KeptBy(head, id) == 0, FreeFor(head, id, time), id);
    }
    if (std::ssize(nodes) < head.shape.nodes) continue;
    std::ranges::sort(nodes);
    nodes.resize(static_cast<std::size_t>(head.shape.nodes));
    for (const auto& [is_new, free, id] : nodes) {
      const int slots = std::max(0, head.shape.slots_per_node - KeptBy(head, id));
      uses_[id].push_back({time, time + head.hold_ms, slots});
    }
    return time;
  }
  return kNever;
}

}  // namespace trainyard::simulation
