// The part of TrainingWorld for gangs that heal in place. A rank that loses a peer keeps its state
// and waits for an order. The ranks of a new generation connect, and ranks without the state
// receive the state from others.
#include <algorithm>

#include "tests/simulation/world/training_world.h"

namespace trainyard::simulation {
namespace {

constexpr int kPeerLost = 69;
// TRAINYARD_HEAL_WAIT.
constexpr int64_t kHealWaitMs = 30'000;

bool IsInGang(const Process& process) { return process.generation > 0; }

}  // namespace

void TrainingWorld::Join(GangRun& gang, Process& process, Timestamp now) {
  const bool is_new = process.order.has_value() && process.order->generation > process.generation;
  if (!is_new) return;
  process.generation = process.order->generation;
  process.place = process.order->place;
  process.heal_until_ms = now + kHealWaitMs;
  if (process.phase != "heal") SetPhase(process, "heal", process.step, now);
  if (process.generation <= gang.generation) return;
  gang.generation = process.generation;
  gang.connected_at_ms = 0;
}

void TrainingWorld::AwaitOrders(GangRun& gang, const std::map<int, Process*>& living,
                                Timestamp now) {
  gang.connected_at_ms = 0;
  const bool finished = gang.step >= gang.total_steps;
  if (!gang.loaded || finished) return;
  for (const auto& [rank, process] : living) {
    if (!IsInGang(*process)) continue;
    if (process->heal_until_ms == 0) {
      process->heal_until_ms = now + kHealWaitMs;
      SetPhase(*process, "heal", process->step, now);
    } else if (process->heal_until_ms <= now) {
      EndAt(*process, now, kPeerLost, 0);
    }
  }
}

void TrainingWorld::TrainHealed(const AttemptKey& attempt, GangRun& gang,
                                const std::map<int, Process*>& gang_now, Timestamp now) {
  if (gang.trained_generation < gang.generation) {
    if (gang.connected_at_ms == 0) gang.connected_at_ms = now + random_.Between(100, 3000);
    if (now < gang.connected_at_ms) return;
    const bool has_state =
        gang.generation == 1 ||
        std::ranges::any_of(gang_now, [](const auto& rank) { return rank.second->has_state; });
    if (!has_state) {
      for (const auto& [place, process] : gang_now) EndAt(*process, now, kPeerLost, 0);
      return;
    }
    // All ranks may lose the step during which the peer was lost.
    const bool loses_step = gang.generation > 1 && gang.step > gang.first_step + 1;
    if (loses_step && random_.Chance(0.5)) --gang.step;
    gang.trained_generation = gang.generation;
    gang.next_step_ms = 0;
    for (const auto& [place, process] : gang_now) {
      process->has_state = true;
      process->heal_until_ms = 0;
    }
  }
  TakeStep(attempt, gang, gang_now, now);
}

void TrainingWorld::AdvanceHealing(const AttemptKey& attempt, GangRun& gang, Timestamp now) {
  std::map<int, Process*> living;
  bool lost_in_start = false;
  for (const auto& [rank, process] : Members(attempt)) {
    if (process->exited.has_value()) continue;
    if (EndIfDue(attempt, rank, *process, now)) {
      const bool failed = process->exit_code != 0 || process->signal != 0;
      lost_in_start |= failed && !gang.loaded && IsInGang(*process);
      continue;
    }
    Join(gang, *process, now);
    living[rank] = process;
  }
  gang.done = living.empty();
  gang.broken |= lost_in_start;
  std::map<int, Process*> gang_now;
  for (const auto& [rank, process] : living) {
    const bool is_there = process->generation == gang.generation && !process->hangs &&
                          !isolated_.contains(process->node_id);
    if (is_there) gang_now[process->place] = process;
    if (isolated_.contains(process->node_id)) were_isolated_.insert(attempt);
    if (isolated_.contains(process->node_id)) hurt_.insert(attempt);
  }
  if (gang.broken && !gang.loaded) return BreakGang(gang, gang_now, now);
  if (static_cast<int>(gang_now.size()) < gang.world_size) return AwaitOrders(gang, living, now);
  TrainHealed(attempt, gang, gang_now, now);
}

}  // namespace trainyard::simulation
