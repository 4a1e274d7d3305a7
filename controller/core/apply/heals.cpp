#include "controller/core/apply/heals.h"

#include "absl/strings/str_cat.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/slots/slot_ledger.h"
#include "controller/core/support/invariant.h"

namespace trainyard::controller {
namespace {

// Returns the entry of the fact's job. The fact's attempt must be live and must be running.
template <typename Fact>
JobEntry& EntryOfRunning(const Fact& fact, ClusterState& state) {
  const auto found = state.jobs.find(fact.job_id());
  const v1::Attempt* live = found == state.jobs.end() ? nullptr : LiveAttempt(found->second);
  Require(live != nullptr && live->number() == fact.attempt() &&
              live->state() == v1::ATTEMPT_STATE_RUNNING,
          absl::StrCat("job ", fact.job_id(), " does not run attempt ", fact.attempt()));
  return found->second;
}

void GiveSeat(const v1::Seat& seat, v1::Attempt& attempt) {
  const int replaced = MemberAt(attempt, seat.place()).rank();
  Require(seat.member() < attempt.ranks_size() && IsStandby(attempt.ranks(seat.member())),
          absl::StrCat("member ", seat.member(), " is not a standby"));
  attempt.mutable_ranks(replaced)->set_replaced(true);
  attempt.mutable_ranks(seat.member())->set_place(seat.place());
}

}  // namespace

void TakeHealing(const v1::AttemptHealing& healing, Timestamp now, ClusterState& state) {
  JobEntry& entry = EntryOfRunning(healing, state);
  v1::Attempt& attempt = *entry.job.mutable_attempts()->rbegin();
  Require(healing.generation() == GenerationOf(attempt) + 1,
          absl::StrCat("job ", healing.job_id(), " cannot heal in this generation"));
  v1::Heal& heal = *attempt.add_heals();
  heal.set_generation(healing.generation());
  heal.set_began_ms(now);
  *heal.mutable_verdict() = healing.verdict();
  *heal.mutable_seats() = healing.seats();
  heal.set_step(healing.step());
  for (const v1::Seat& seat : healing.seats()) {
    GiveSeat(seat, attempt);
    entry.slow_ranks.erase(seat.place());
  }
  state.rendezvous_in_use.erase({attempt.master_address(), attempt.master_port()});
  attempt.set_master_address(healing.master_address());
  attempt.set_master_port(healing.master_port());
  state.rendezvous_in_use.insert({healing.master_address(), healing.master_port()});
  for (auto& [rank, exited] : entry.exited_ranks) exited.clear_log_tail();
  entry.first_failure_ms = 0;
  // If all ranks of a replaced node ended before the heal, the node sends no AttemptCleared.
  // Therefore the node's slots are released here.
  for (const std::string& node_id : ReplacedNodes(attempt)) {
    if (!entry.cleared_nodes.contains(node_id)) continue;
    ReleaseSlotsOn(healing.job_id(), attempt, node_id, state);
  }
}

void TakeHealed(const v1::AttemptHealed& healed, Timestamp now, ClusterState& state) {
  v1::Attempt& attempt = *EntryOfRunning(healed, state).job.mutable_attempts()->rbegin();
  Require(healed.generation() == GenerationOf(attempt), "the heal belongs to an older generation");
  v1::Heal& heal = *attempt.mutable_heals()->rbegin();
  heal.set_healed_ms(now);
  heal.set_lost_steps(healed.lost_steps());
}

}  // namespace trainyard::controller
