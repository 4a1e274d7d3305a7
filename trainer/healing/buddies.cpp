#include "trainer/healing/buddies.h"

#include <algorithm>
#include <set>

namespace trainyard::trainer {
namespace {

bool Has(const std::vector<int64_t>& steps, int64_t step) {
  return std::find(steps.begin(), steps.end(), step) != steps.end();
}

bool IsSomewhere(const std::vector<HeldSteps>& held, const Buddies& buddies, int64_t rank,
                 int64_t step) {
  return Has(held[rank].own, step) || Has(held[buddies.BuddyOf(rank)].ward, step);
}

// True if `rank` survived the loss but did not confirm `step`. A rank that left early may lack a
// step that other ranks have confirmed (trainer/step/step_runner.cpp, CheckPresence).
bool IsDoubted(const HeldSteps& rank, int64_t step) {
  return !rank.own.empty() && !Has(rank.own, step);
}

}  // namespace

Buddies::Buddies(const Mesh& mesh, const LayoutConfig& layout, int64_t local_world_size) {
  const std::vector<Axis> data = {Axis::kContext, Axis::kData};
  std::vector<Axis> axes = data;
  axes.insert(axes.end(), {Axis::kTensor, Axis::kPipeline});
  const std::vector<int64_t> all = mesh.RanksAlong(0, axes);
  buddies_.resize(all.size());
  wards_.resize(all.size());
  have_equal_parameters_ =
      layout.zero == 0 && layout.ep == 1 && mesh.RanksAlong(0, data).size() > 1;
  if (!have_equal_parameters_) {
    AddRing(all, local_world_size);
    return;
  }
  for (const int64_t rank : all) {
    const std::vector<int64_t> alike = mesh.RanksAlong(rank, data);
    if (alike.front() == rank) AddRing(alike, local_world_size);
  }
}

void Buddies::AddRing(const std::vector<int64_t>& ranks, int64_t local_world_size) {
  const auto count = static_cast<int64_t>(ranks.size());
  const auto at = [&](int64_t place) { return ranks[place % count]; };
  const auto leaves_node = [&](int64_t distance) {
    for (int64_t place = 0; place < count; ++place) {
      if (at(place) / local_world_size == at(place + distance) / local_world_size) return false;
    }
    return true;
  };
  int64_t distance = 1;
  while (distance < count && !leaves_node(distance)) ++distance;
  if (distance == count) distance = 1;  // Used if no distance puts every buddy on another node.
  for (int64_t place = 0; place < count; ++place) {
    buddies_[at(place)] = at(place + distance);
    wards_[at(place + distance)] = at(place);
  }
}

RecoveryPlan PlanRecovery(const std::vector<HeldSteps>& held, const Buddies& buddies) {
  std::set<int64_t, std::greater<>> steps;
  for (const HeldSteps& rank : held) {
    steps.insert(rank.own.begin(), rank.own.end());
    steps.insert(rank.ward.begin(), rank.ward.end());
  }
  RecoveryPlan plan{.step = -1};
  for (const int64_t step : steps) {
    bool is_whole = true;
    for (int64_t rank = 0; rank < buddies.size(); ++rank) {
      is_whole = is_whole && IsSomewhere(held, buddies, rank, step) && !IsDoubted(held[rank], step);
    }
    if (!is_whole) continue;
    plan.step = step;
    break;
  }
  for (int64_t rank = buddies.size() - 1; rank >= 0; --rank) {
    const bool has_own = Has(held[rank].own, plan.step);
    if (plan.step >= 0 && has_own) plan.first_holder = rank;
    const bool is_lost = held[rank].own.empty() && held[buddies.BuddyOf(rank)].ward.empty();
    if (plan.step >= 0 ? !has_own : is_lost) plan.receivers.push_back(rank);
  }
  std::reverse(plan.receivers.begin(), plan.receivers.end());
  return plan;
}

}  // namespace trainyard::trainer
