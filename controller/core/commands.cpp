#include "controller/core/commands.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/decide/lost_history.h"
#include "controller/core/schedule/layout_choice.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/attempts/rollbacks.h"
#include "controller/core/state/attempts/starting_point.h"
#include "controller/core/state/jobs/job_timing.h"
#include "controller/core/verdict/heal_policy.h"
#include "proto/jobspec/rules/launch_shape.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kMaxLiveJobsBytes = 100'000;

// The maximum number of ranks per node whose stacks are recorded. The number is small, because the
// worker records stacks on its only thread.
constexpr int kMostStacks = 8;

using CommandKey = std::pair<std::string, AttemptKey>;  // Node and attempt.

// Adds the rank to the last process of its node, or to a new process if the last one has
// `ranks_per_process` ranks. Ranks must be added in the order of their numbers.
void AddRank(const v1::RankPlacement& placement, int ranks_per_process, v1::StartAttempt& start) {
  const bool has_place =
      !start.processes().empty() && start.processes().rbegin()->ranks_size() < ranks_per_process;
  v1::Process& process = has_place ? *start.mutable_processes()->rbegin() : *start.add_processes();
  process.add_slots(placement.slot());
  v1::ProcessRank& rank = *process.add_ranks();
  rank.set_rank(placement.rank());
  rank.set_local_rank(placement.local_rank());
  process.set_standby(placement.standby());
}

// Adds the field `ranks`. Workers of earlier releases do not know the field `processes`; they start
// one process per rank.
void AddRanksForOlderWorkers(v1::StartAttempt& start) {
  const auto is_simple = [](const v1::Process& process) {
    return process.slots_size() == 1 && process.ranks_size() == 1;
  };
  if (!std::ranges::all_of(start.processes(), is_simple)) return;
  for (const v1::Process& process : start.processes()) {
    v1::RankStart& rank = *start.add_ranks();
    rank.set_rank(process.ranks(0).rank());
    rank.set_local_rank(process.ranks(0).local_rank());
    rank.set_slot(process.slots(0));
    rank.set_standby(process.standby());
  }
}

class CommandList {
 public:
  CommandList(const ClusterState& state, const Observations& observations)
      : state_(state), observations_(observations) {}

  std::vector<Command> Due() {
    for (const int64_t job_id : state_.live_jobs) AddForJob(state_.jobs.at(job_id));
    for (const auto& [node_id, observed] : observations_.nodes) {
      if (observed.attached) AddForNode(node_id, observed);
    }
    std::vector<Command> commands;
    for (auto& [key, message] : due_) {
      commands.push_back({key.first, std::move(message)});
    }
    return commands;
  }

 private:
  void AddForJob(const JobEntry& entry) {
    const v1::Attempt& attempt = *LiveAttempt(entry);
    const bool starting = attempt.state() == v1::ATTEMPT_STATE_STARTING;
    // Child processes of a finished gang may still run. Such processes must be stopped as well.
    const bool leaving = attempt.state() == v1::ATTEMPT_STATE_STOPPING || GangSucceeded(entry);
    // A running gang needs no commands, except to start its spare nodes, and to warn its ranks.
    const bool warned = attempt.time_limit_warnings().current();
    if (!starting && !leaving && !warned && StandbyCount(attempt) == 0) return;
    const std::vector<std::string> nodes = GangNodes(attempt);
    const std::set<std::string> replaced = ReplacedNodes(attempt);
    const int training_nodes = TrainingNodes(attempt);
    const MembersByNode stacks = MembersThatHung(attempt);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const NodeObservation* node = FindAttached(nodes[i]);
      if (node == nullptr || entry.cleared_nodes.contains(nodes[i])) continue;
      const AttemptKey key{entry.job.id(), attempt.number()};
      const auto report = node->reports.find(key);
      if (leaving) {
        Stop(nodes[i], key, StopGraceMs(entry));
        AskForStacks(nodes[i], key, stacks);
      } else if (replaced.contains(nodes[i])) {
        Stop(nodes[i], key, 0);
      } else if (report == node->reports.end()) {
        Start(nodes[i], entry, attempt, static_cast<int>(i), training_nodes);
      } else if (IsHealing(attempt)) {
        Heal(nodes[i], entry, report->second);
      } else if (warned) {
        Warn(nodes[i], entry, report->second);
      }
    }
  }

  // Stops the attempts that must not run on this node. These are the ended attempts in `uncleared`,
  // and the attempts that the worker reports although they are not live in the state. Unmanaged
  // attempts continue.
  void AddForNode(const std::string& node_id, const NodeObservation& observed) {
    const auto node = state_.nodes.find(node_id);
    if (node == state_.nodes.end()) return;
    for (const AttemptKey& key : node->second.uncleared) Stop(node_id, key, kUnwantedGraceMs);
    for (const auto& [key, report] : observed.reports) {
      const bool unwanted = !IsLiveOn(node->second, key) && !IsUnmanaged(state_, key);
      if (!report.cleared() && unwanted) Stop(node_id, key, kUnwantedGraceMs);
    }
  }

  bool IsLiveOn(const NodeEntry& node, const AttemptKey& key) const {
    return node.live_jobs.contains(key.job_id) &&
           LiveAttempt(state_.jobs.at(key.job_id))->number() == key.number;
  }

  const NodeObservation* FindAttached(const std::string& node_id) const {
    const auto found = observations_.nodes.find(node_id);
    const bool attached = found != observations_.nodes.end() && found->second.attached;
    return attached ? &found->second : nullptr;
  }

  void Stop(const std::string& node_id, const AttemptKey& key, int64_t grace_ms) {
    v1::StopAttempt stop;
    stop.set_job_id(key.job_id);
    stop.set_attempt(key.number);
    stop.mutable_grace()->set_seconds(grace_ms / 1000);
    stop.mutable_grace()->set_nanos(static_cast<int32_t>(grace_ms % 1000) * 1000000);
    *due_[{node_id, key}].mutable_stop_attempt() = std::move(stop);
  }

  using MembersByNode = std::map<std::string, std::vector<int>>;

  // Returns the members that the verdict on a stall names. Their stacks must be recorded before the
  // members are killed. Computed once for all nodes, because a verdict may name every rank of a
  // large gang.
  static MembersByNode MembersThatHung(const v1::Attempt& attempt) {
    MembersByNode members;
    if (attempt.stop_reason() != v1::STOP_REASON_STALLED) return members;
    const std::vector<const v1::RankPlacement*> gang = SeatedMembers(attempt);
    for (const int place : attempt.verdict().ranks()) {
      if (place < 0 || place >= std::ssize(gang)) continue;
      const v1::RankPlacement& member = *gang[static_cast<std::size_t>(place)];
      std::vector<int>& there = members[member.node_id()];
      if (std::ssize(there) < kMostStacks) there.push_back(member.rank());
    }
    return members;
  }

  void AskForStacks(const std::string& node_id, const AttemptKey& key,
                    const MembersByNode& members) {
    const auto here = members.find(node_id);
    if (here == members.end()) return;
    v1::StopAttempt& stop = *due_[{node_id, key}].mutable_stop_attempt();
    for (const int member : here->second) stop.add_stacks_of(member);
  }

  // Sends the heal order while a running rank of the gang on this node has not received the order
  // of the current generation.
  void Heal(const std::string& node_id, const JobEntry& entry, const v1::AttemptReport& report) {
    const v1::Attempt& attempt = *LiveAttempt(entry);
    v1::HealAttempt heal;
    bool is_due = false;
    for (const v1::RankReport& rank : report.ranks()) {
      const bool is_member = 0 <= rank.rank() && rank.rank() < attempt.ranks_size() &&
                             attempt.ranks(rank.rank()).node_id() == node_id;
      if (!is_member || !IsSeated(attempt.ranks(rank.rank()))) continue;
      is_due |= rank.running() && rank.ordered_generation() < GenerationOf(attempt);
      v1::RankOrder& order = *heal.add_orders();
      order.set_rank(rank.rank());
      order.set_place(PlaceOf(attempt.ranks(rank.rank())));
    }
    if (!is_due) return;
    heal.set_job_id(entry.job.id());
    heal.set_attempt(attempt.number());
    heal.set_generation(GenerationOf(attempt));
    for (const int place : PlacesWithoutState(attempt)) heal.add_replaced(place);
    heal.set_master_address(attempt.master_address());
    heal.set_master_port(attempt.master_port());
    *due_[{node_id, {entry.job.id(), attempt.number()}}].mutable_heal_attempt() = std::move(heal);
  }

  // Sends the warning while a running rank of the gang on this node has not received it.
  void Warn(const std::string& node_id, const JobEntry& entry, const v1::AttemptReport& report) {
    const v1::Attempt& attempt = *LiveAttempt(entry);
    const bool is_due = std::ranges::any_of(report.ranks(), [&](const v1::RankReport& rank) {
      return rank.running() && IsSeated(entry, rank.rank()) &&
             rank.warning() < attempt.time_limit_warnings().number();
    });
    if (!is_due) return;
    v1::WarnAttempt warn;
    warn.set_job_id(entry.job.id());
    warn.set_attempt(attempt.number());
    warn.set_number(attempt.time_limit_warnings().number());
    warn.set_signal(entry.job.spec().time_limit_signal());
    *due_[{node_id, {entry.job.id(), attempt.number()}}].mutable_warn_attempt() = std::move(warn);
  }

  void Start(const std::string& node_id, const JobEntry& entry, const v1::Attempt& attempt,
             int node_rank, int node_count) {
    v1::StartAttempt start;
    start.set_job_id(entry.job.id());
    start.set_job_name(entry.job.name());
    start.set_attempt(attempt.number());
    *start.mutable_spec() = GrantedSpec(entry.job.spec(), attempt);
    bool has_started = false;
    for (const v1::RankPlacement& placement : attempt.ranks()) {
      if (placement.node_id() != node_id) continue;
      has_started |= entry.started_ranks.contains(placement.rank()) ||
                     entry.exited_ranks.contains(placement.rank());
      AddRank(placement, RanksPerProcess(entry.job.spec()), start);
    }
    AddRanksForOlderWorkers(start);
    // The fact of a rank's start can arrive before the heartbeat that reports the attempt. The
    // start was then received and is not repeated.
    if (has_started) return;
    start.set_world_size(GangSize(attempt));
    start.set_node_rank(node_rank);
    start.set_node_count(node_count);
    start.set_master_address(attempt.master_address());
    start.set_master_port(attempt.master_port());
    start.set_checkpoint_dir(entry.job.spec().checkpoint().dir());
    start.set_resume_from(attempt.resume_from());
    start.set_skip_samples(attempt.skip_samples());
    start.set_lr_factor(attempt.lr_factor());
    start.set_rolled_back(RolledBackText(entry.job));
    start.set_live_jobs(LiveJobsBeside(entry.job.id()));
    for (v1::Checkpoint& earlier : WatchedCheckpointsOf(entry.job)) {
      *start.add_checkpoints() = std::move(earlier);
    }
    *due_[{node_id, {entry.job.id(), attempt.number()}}].mutable_start_attempt() = std::move(start);
  }

  void AddIfStarted(int64_t waiting_id) {
    const bool has_started = state_.jobs.at(waiting_id).job.attempts_size() > 0;
    if (has_started) started_jobs_->push_back(waiting_id);
  }

  // Returns the ids, separated by commas, of the other jobs that have started but not ended.
  std::string LiveJobsBeside(int64_t job_id) {
    if (!started_jobs_.has_value()) {
      started_jobs_.emplace(state_.live_jobs.begin(), state_.live_jobs.end());
      for (const QueueKey& place : state_.pending_jobs) AddIfStarted(place.job_id);
      for (const int64_t id : state_.paused_jobs) AddIfStarted(id);
    }
    std::string text;
    for (const int64_t other : *started_jobs_) {
      // The ids are passed in an environment variable, which is limited to 128 KiB.
      if (other == job_id || text.size() >= kMaxLiveJobsBytes) continue;
      absl::StrAppend(&text, text.empty() ? "" : ",", other);
    }
    return text;
  }

  const ClusterState& state_;
  const Observations& observations_;
  std::map<CommandKey, v1::ControllerMessage> due_;
  std::optional<std::vector<int64_t>> started_jobs_;
};

}  // namespace

std::vector<Command> CommandsDue(const ClusterState& state, const Observations& observations,
                                 Timestamp) {
  return CommandList(state, observations).Due();
}

}  // namespace trainyard::controller
