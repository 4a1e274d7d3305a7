#include "controller/metrics/cluster_samples.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/decide/lost_history.h"
#include "controller/core/explain/job_health.h"
#include "controller/core/explain/pending_reason.h"
#include "controller/core/health/node_health.h"
#include "controller/core/ledger/ledger.h"
#include "controller/core/observations/time_use.h"
#include "controller/core/state/attempts/attempt_outcome.h"
#include "controller/core/state/attempts/restart_budget.h"
#include "controller/core/state/jobs/job_timing.h"
#include "controller/core/state/jobs/prerequisites.h"
#include "controller/core/support/text.h"
#include "controller/core/verdict/heal_policy.h"
#include "proto/json/enum_text.h"

namespace trainyard::controller {
namespace {

using prometheus::MetricType;

constexpr MetricInfo kJobs{"trainyard_jobs", "Jobs that have not ended, by state."};
constexpr MetricInfo kPending{"trainyard_jobs_pending", "Pending jobs, by dominant reason."};
constexpr MetricInfo kQueueDepth{"trainyard_queue_depth", "Jobs waiting for slots."};
constexpr MetricInfo kOldestWait{"trainyard_queue_oldest_wait_seconds",
                                 "Waiting time of the oldest job that was never placed; 0 if there "
                                 "is none."};
constexpr MetricInfo kNodes{
    "trainyard_nodes",
    "Nodes, by state; an unhealthy node counts as unhealthy even if it is ready."};
constexpr MetricInfo kAttached{"trainyard_workers_attached",
                               "Workers with an open stream to the controller."};
constexpr MetricInfo kSlots{
    "trainyard_slots",
    "Slots, by kind and state: free, used, cordoned (free, but the node accepts no new ranks), "
    "unhealthy (free on an unhealthy node), unavailable (the node is not ready)."};
constexpr MetricInfo kLosses{"trainyard_history_losses",
                             "Number of times in the last seven days that the event log or another "
                             "store was found to have lost data."};
constexpr MetricInfo kOmitted{"trainyard_series_omitted",
                              "Jobs and nodes without series of their own, because only a limited "
                              "number of jobs and nodes is exported."};

constexpr MetricInfo kNodeReady{"trainyard_node_ready", "1 while the node is ready, else 0."};
constexpr MetricInfo kNodeCordoned{
    "trainyard_node_cordoned",
    "1 while the node is cordoned, draining or drained, with the reason given by the user. Other "
    "nodes have no such series."};
constexpr MetricInfo kHeartbeatAge{"trainyard_node_heartbeat_age_seconds",
                                   "Time since the node's last heartbeat."};
constexpr MetricInfo kNodeSlots{"trainyard_node_slots", "Slots of the node: free or used."};

constexpr MetricInfo kJobRunning{"trainyard_job_running",
                                 "1 while every rank of the job runs, else 0."};
constexpr MetricInfo kJobHealth{
    "trainyard_job_health",
    "1 for each word that describes the job's health: healed, slow, unsaved, looping, diverging, "
    "stalled, or only ok. Only for jobs that start, run or recover."};
constexpr MetricInfo kJobFailed{"trainyard_job_failed", "1 when the job has failed, else 0."};
constexpr MetricInfo kJobBudget{"trainyard_job_restart_budget_used_ratio",
                                "Restarts of the job within restart.window, as a fraction of "
                                "restart.max_restarts."};
constexpr MetricInfo kJobAtRisk{"trainyard_job_steps_at_risk",
                                "Completed steps of the job that no checkpoint contains."};
constexpr MetricInfo kJobSlots{"trainyard_job_slots", "Slots held by the job's live attempt."};
constexpr MetricInfo kJobSpares{"trainyard_job_spares", "Usable spare nodes of the job."};
constexpr MetricInfo kJobAttempt{"trainyard_job_attempt", "Number of the job's newest attempt."};
constexpr MetricInfo kJobResumes{"trainyard_job_resumes",
                                 "Attempts that started because the job was resumed after a pause. "
                                 "They do not count as restarts."};
constexpr MetricInfo kJobRestarts{"trainyard_job_restarts_total",
                                  "Restarts of the job, by cause of the preceding failure.",
                                  MetricType::Counter};
// This metric is a gauge, because the time of redone steps moves from the phase train to redone.
constexpr MetricInfo kJobTime{
    "trainyard_job_time_seconds",
    "Time since the job was submitted, by phase of the ledger; the phases add up to wall time."};
constexpr MetricInfo kJobSubmitted{"trainyard_job_submitted_timestamp_seconds",
                                   "When the job was submitted, Unix seconds."};
constexpr MetricInfo kExpertProblems{
    "trainyard_train_moe_problem_layers",
    "Layers whose experts do not share the load, by problem: collapsed (load near the worst), "
    "certain (the router uses one expert per token), dropping (many tokens are dropped), idle "
    "(experts get no tokens). Only for live attempts that report the load of experts."};
constexpr MetricInfo kCheckpointTime{"trainyard_checkpoint_last_success_timestamp_seconds",
                                     "When the newest checkpoint was published, Unix seconds."};
constexpr MetricInfo kCheckpointStep{"trainyard_checkpoint_last_step",
                                     "Step of the newest checkpoint."};
constexpr MetricInfo kCheckpointBytes{"trainyard_checkpoint_size_bytes",
                                      "Size of the newest checkpoint."};
constexpr MetricInfo kCheckpoints{"trainyard_checkpoints",
                                  "Number of existing checkpoints of the job."};

constexpr double kMs = 1000;

template <typename Enum>
std::map<Enum, int64_t> Zeros(std::initializer_list<Enum> values) {
  std::map<Enum, int64_t> counts;
  for (const Enum value : values) counts[value] = 0;
  return counts;
}

void AddJobCounts(const ClusterSources& sources, Timestamp now, MetricSet& metrics) {
  const ClusterState& state = sources.view.state;
  auto states = Zeros({v1::JOB_STATE_QUEUED, v1::JOB_STATE_STARTING, v1::JOB_STATE_RUNNING,
                       v1::JOB_STATE_RECOVERING, v1::JOB_STATE_STOPPING, v1::JOB_STATE_PAUSING,
                       v1::JOB_STATE_PAUSED, v1::JOB_STATE_HELD});
  auto reasons =
      Zeros({v1::PENDING_CODE_RESOURCES, v1::PENDING_CODE_PRIORITY, v1::PENDING_CODE_BACKOFF,
             v1::PENDING_CODE_STOPPING, v1::PENDING_CODE_LAYOUT, v1::PENDING_CODE_PAUSED,
             v1::PENDING_CODE_DEPENDENCY});
  Timestamp oldest = now;
  PendingExplainer explainer(sources.view);
  const auto count_job = [&](int64_t id) {
    const JobEntry& entry = state.jobs.at(id);
    ++states[entry.job.state()];
    const v1::PendingCode code = explainer.CodeOf(entry);
    if (code != v1::PENDING_CODE_NOT_PENDING) ++reasons[code];
    const bool is_new = entry.job.state() == v1::JOB_STATE_QUEUED && entry.job.attempts().empty();
    if (is_new && !IsDependent(entry.job)) oldest = std::min(oldest, QueuedSince(entry.job));
  };
  for (const int64_t id : state.live_jobs) count_job(id);
  for (const QueueKey& place : state.pending_jobs) count_job(place.job_id);
  for (const int64_t id : state.dependent_jobs) count_job(id);
  for (const int64_t id : state.paused_jobs) count_job(id);
  for (const auto& [state, count] : states) {
    metrics.Add(kJobs, {{"state", EnumText(state)}}, static_cast<double>(count));
  }
  for (const auto& [reason, count] : reasons) {
    metrics.Add(kPending, {{"reason", EnumText(reason)}}, static_cast<double>(count));
  }
  metrics.Add(kQueueDepth, {}, static_cast<double>(sources.view.state.pending_jobs.size()));
  metrics.Add(kOldestWait, {}, static_cast<double>(now - oldest) / kMs);
}

struct SlotCounts {
  int free = 0;
  int used = 0;
};

SlotCounts CountSlots(const v1::Node& node, v1::DeviceKind kind) {
  const int free = FreeSlots(node, kind);
  return {free, TotalSlots(node, kind) - free};
}

// Returns the value of the label `state` for the node's free slots.
const char* FreeSlotState(const v1::Node& node) {
  if (node.state() != v1::NODE_STATE_READY) return "unavailable";
  if (!TakesRanks(node)) return "cordoned";
  return IsHealthy(node) ? "free" : "unhealthy";
}

void AddNodeCounts(const ClusterSources& sources, MetricSet& metrics) {
  auto states = Zeros({v1::NODE_STATE_READY, v1::NODE_STATE_SUSPECT, v1::NODE_STATE_LOST});
  // The number of slots by kind and state.
  std::map<std::pair<std::string, std::string>, int> slots;
  int attached = 0;
  int64_t unhealthy = 0;
  for (const auto& [id, entry] : sources.view.state.nodes) {
    ++states[entry.node.state()];
    const auto observed = sources.view.observations.nodes.find(id);
    if (observed != sources.view.observations.nodes.end() && observed->second.attached) ++attached;
    const bool ready = entry.node.state() == v1::NODE_STATE_READY;
    if (ready && !IsHealthy(entry.node)) {
      --states[v1::NODE_STATE_READY];
      ++unhealthy;
    }
    for (const v1::DeviceKind kind : kDeviceKinds) {
      const SlotCounts counts = CountSlots(entry.node, kind);
      if (counts.free + counts.used == 0) continue;
      slots[{KindName(kind), FreeSlotState(entry.node)}] += counts.free;
      slots[{KindName(kind), ready ? "used" : "unavailable"}] += counts.used;
    }
  }
  for (const auto& [state, count] : states) {
    metrics.Add(kNodes, {{"state", EnumText(state)}}, static_cast<double>(count));
  }
  metrics.Add(kNodes, {{"state", "unhealthy"}}, static_cast<double>(unhealthy));
  metrics.Add(kAttached, {}, attached);
  for (const auto& [key, count] : slots) {
    metrics.Add(kSlots, {{"kind", key.first}, {"state", key.second}}, count);
  }
}

// Returns a unique name for the node's series. Nodes may share a name, but series must not.
std::string UniqueName(const v1::Node& node, std::set<std::string>& names) {
  if (names.insert(node.name()).second) return node.name();
  std::string name = absl::StrCat(node.name(), "-", node.id().substr(0, 8));
  if (names.insert(name).second) return name;
  return absl::StrCat(node.name(), "-", node.id());
}

// Returns the number of nodes omitted because of a limit.
std::size_t AddNodes(const ClusterSources& sources, Timestamp now, MetricSet& metrics) {
  std::set<std::string> names;
  std::size_t added = 0;
  for (const auto& [id, entry] : sources.view.state.nodes) {
    if (added == kMaxNodesExported) break;
    ++added;
    const std::string name = UniqueName(entry.node, names);
    metrics.Add(kNodeReady, {{"node", name}}, entry.node.state() == v1::NODE_STATE_READY ? 1 : 0);
    if (entry.node.cordoned()) {
      metrics.Add(kNodeCordoned, {{"node", name}, {"reason", entry.node.cordon_reason()}}, 1);
    }
    const Timestamp heartbeat_age_ms =
        std::max<Timestamp>(0, now - LastHeartbeat(sources.view.observations, id));
    metrics.Add(kHeartbeatAge, {{"node", name}}, static_cast<double>(heartbeat_age_ms) / kMs);
    SlotCounts counts;
    for (const v1::DeviceKind kind : kDeviceKinds) {
      const SlotCounts of_kind = CountSlots(entry.node, kind);
      counts.free += of_kind.free;
      counts.used += of_kind.used;
    }
    metrics.Add(kNodeSlots, {{"node", name}, {"state", "free"}}, counts.free);
    metrics.Add(kNodeSlots, {{"node", name}, {"state", "used"}}, counts.used);
  }
  return sources.view.state.nodes.size() - added;
}

void AddRestarts(const v1::Job& job, const MetricLabels& labels, MetricSet& metrics) {
  std::map<v1::VerdictCause, int> causes;
  for (int i = 0; i + 1 < job.attempts_size(); ++i) {
    const bool interrupted = IsInterrupted(job.attempts(i));
    if (!interrupted) ++causes[job.attempts(i).verdict().cause()];
  }
  for (const auto& [cause, count] : causes) {
    MetricLabels with_cause = labels;
    with_cause.push_back({"cause", EnumText(cause)});
    metrics.Add(kJobRestarts, std::move(with_cause), count);
  }
}

// Returns the number of slots of the gang and its standbys, not counting slots of nodes that heals
// replaced.
int SlotsWanted(const v1::Attempt& attempt) {
  return static_cast<int>(std::ranges::count(attempt.ranks(), false, &v1::RankPlacement::replaced));
}

void AddTimes(const ClusterSources& sources, const v1::Job& job, Timestamp now,
              const MetricLabels& labels, MetricSet& metrics) {
  v1::Job current = job;
  MergeObserved(job, sources.view.observations, now, current);
  const v1::Ledger ledger = LedgerOf(current, now);
  for (const v1::PhaseTime& time : ledger.phases()) {
    MetricLabels with_phase = labels;
    with_phase.push_back({"phase", EnumText(time.phase())});
    metrics.Add(kJobTime, std::move(with_phase), time.seconds());
  }
}

void AddCheckpoints(const v1::Job& job, const MetricLabels& labels, MetricSet& metrics) {
  metrics.Add(kCheckpoints, labels, job.checkpoints_size());
  const auto newest = std::ranges::max_element(job.checkpoints(), {}, &v1::Checkpoint::time_ms);
  if (newest == job.checkpoints().end()) return;
  metrics.Add(kCheckpointTime, labels, static_cast<double>(newest->time_ms()) / kMs);
  metrics.Add(kCheckpointStep, labels, static_cast<double>(newest->step()));
  metrics.Add(kCheckpointBytes, labels, static_cast<double>(newest->bytes()));
}

const char* ProblemName(ExpertProblem::Kind kind) {
  switch (kind) {
    case ExpertProblem::Kind::kCollapsed:
      return "collapsed";
    case ExpertProblem::Kind::kCertain:
      return "certain";
    case ExpertProblem::Kind::kDropping:
      return "dropping";
    case ExpertProblem::Kind::kIdle:
      break;
  }
  return "idle";
}

void AddExpertProblems(const AttemptObservation& attempt, const MetricLabels& labels,
                       MetricSet& metrics) {
  if (attempt.experts.empty()) return;
  using Kind = ExpertProblem::Kind;
  auto layers = Zeros({Kind::kCollapsed, Kind::kCertain, Kind::kDropping, Kind::kIdle});
  for (const ExpertProblem& problem : attempt.experts.Problems()) {
    layers[problem.kind] = problem.layers;
  }
  for (const auto& [kind, count] : layers) {
    MetricLabels with_problem = labels;
    with_problem.push_back({"problem", ProblemName(kind)});
    metrics.Add(kExpertProblems, std::move(with_problem), static_cast<double>(count));
  }
}

void AddHealth(const ClusterSources& sources, const JobEntry& entry, const MetricLabels& labels,
               MetricSet& metrics) {
  const ClusterView& view = sources.view;
  const v1::JobHealth health = HealthOf(view.state, view.observations, entry, view.now);
  if (health.word() == v1::HEALTH_WORD_UNSPECIFIED) return;
  std::set<v1::HealthWord> words;
  for (const v1::HealthFinding& finding : health.findings()) words.insert(finding.word());
  if (words.empty()) words.insert(v1::HEALTH_WORD_OK);
  for (const v1::HealthWord word : words) {
    MetricLabels with_word = labels;
    with_word.push_back({"health", EnumText(word)});
    metrics.Add(kJobHealth, with_word, 1);
  }
  metrics.Add(kJobAtRisk, labels, static_cast<double>(health.steps_at_risk()));
}

void AddJob(const ClusterSources& sources, const JobEntry& entry, Timestamp now,
            MetricSet& metrics) {
  const v1::Job& job = entry.job;
  const MetricLabels labels = {{"job_id", absl::StrCat(job.id())}, {"job_name", job.name()}};
  metrics.Add(kJobRunning, labels, job.state() == v1::JOB_STATE_RUNNING ? 1 : 0);
  metrics.Add(kJobSubmitted, labels, static_cast<double>(job.submitted_time_ms()) / kMs);
  AddHealth(sources, entry, labels, metrics);
  metrics.Add(kJobFailed, labels, job.state() == v1::JOB_STATE_FAILED ? 1 : 0);
  const int limit = job.spec().restart().max_restarts();
  const double used = static_cast<double>(RestartsInWindow(entry, now));
  metrics.Add(kJobBudget, labels, limit == 0 ? 0 : used / limit);
  const v1::Attempt* live = LiveAttempt(entry);
  metrics.Add(kJobSlots, labels, live == nullptr ? 0 : SlotsWanted(*live));
  const std::size_t spares =
      live == nullptr ? 0
                      : WholeSpares(sources.view.state, sources.view.observations, entry).size();
  metrics.Add(kJobSpares, labels, static_cast<double>(spares));
  const v1::Attempt* newest = NewestAttempt(entry);
  metrics.Add(kJobAttempt, labels, newest == nullptr ? 0 : static_cast<double>(newest->number()));
  metrics.Add(kJobResumes, labels, job.resumed_starts());
  if (live != nullptr) {
    const auto& attempts = sources.view.observations.attempts;
    const auto observed = attempts.find({job.id(), live->number()});
    if (observed != attempts.end()) AddExpertProblems(observed->second, labels, metrics);
  }
  AddTimes(sources, job, now, labels, metrics);
  AddRestarts(job, labels, metrics);
  AddCheckpoints(job, labels, metrics);
  sources.events.AddJobSamples(job.id(), labels, metrics);
  sources.training.AddJobSamples(job.id(), labels, now, metrics);
}

// Returns the number of jobs omitted because of a limit.
std::size_t AddJobs(const ClusterSources& sources, Timestamp now, MetricSet& metrics) {
  std::set<int64_t> added;
  std::size_t omitted = 0;
  const auto add = [&](int64_t id) {
    const JobEntry* entry = FindEntry(sources.view.state, id);
    if (entry == nullptr || added.contains(id)) return;
    if (added.size() == kMaxJobsExported) {
      ++omitted;
      return;
    }
    added.insert(id);
    AddJob(sources, *entry, now, metrics);
  };
  for (const int64_t id : sources.view.state.live_jobs) add(id);
  for (const QueueKey& place : sources.view.state.pending_jobs) add(place.job_id);
  for (const int64_t id : sources.view.state.dependent_jobs) add(id);
  for (const int64_t id : sources.view.state.paused_jobs) add(id);
  for (const auto& [ended_ms, id] : std::views::reverse(sources.events.ended_jobs())) {
    if (ended_ms > now - kEndedJobKeptMs) add(id);
  }
  return omitted;
}

}  // namespace

void AddClusterSamples(const ClusterSources& sources, Timestamp now, MetricSet& metrics) {
  AddJobCounts(sources, now, metrics);
  AddNodeCounts(sources, metrics);
  metrics.Add(kLosses, {}, static_cast<double>(LossWarnings(sources.view.state, now).size()));
  sources.events.AddSamples(metrics);
  const std::size_t jobs_omitted = AddJobs(sources, now, metrics);
  const std::size_t nodes_omitted = AddNodes(sources, now, metrics);
  metrics.Add(kOmitted, {{"of", "jobs"}}, static_cast<double>(jobs_omitted));
  metrics.Add(kOmitted, {{"of", "nodes"}}, static_cast<double>(nodes_omitted));
}

}  // namespace trainyard::controller
