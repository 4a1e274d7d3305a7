#include "controller/core/decide/decide_worker.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/decide/environment_record.h"
#include "controller/core/decide/lost_history.h"
#include "controller/core/decide/node_identity.h"
#include "controller/core/health/node_health.h"
#include "controller/core/health/quarantine.h"
#include "controller/core/observations/node_clock.h"
#include "controller/core/state/attempts/attempt_outcome.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/nodes/node_groups.h"
#include "controller/core/support/core_options.h"
#include "controller/core/verdict/failure_policy.h"
#include "controller/core/verdict/loss_guard.h"
#include "google/protobuf/util/message_differencer.h"
#include "proto/contract/limits.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/support/status_macros.h"
#include "proto/text/node_label.h"
#include "proto/text/utf8.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kMaxPathBytes = 4096;

v1::Event NodeEvent(const ClusterState& state, const std::string& node_id, Timestamp now) {
  v1::Event event;
  event.set_time_ms(now);
  event.set_actor(absl::StrCat("node ", NodeName(state, node_id)));
  return event;
}

// Sizes were already checked when the message arrived (controller/rpc/worker_message_check.h).
absl::Status CheckInventory(const v1::Inventory& inventory) {
  std::set<int> indexes;
  for (const v1::Slot& slot : inventory.slots()) {
    if (slot.index() < 0 || !indexes.insert(slot.index()).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("slot index ", slot.index(), " is negative or used twice"));
    }
    if (slot.kind() != v1::DEVICE_KIND_CPU && slot.kind() != v1::DEVICE_KIND_GPU) {
      return absl::InvalidArgumentError(
          absl::StrCat("slot ", slot.index(), " has an unknown kind"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckHello(const v1::Hello& hello) {
  for (const std::string* text :
       {&hello.node_id(), &hello.node_name(), &hello.incarnation(), &hello.address()}) {
    if (text->empty()) {
      return absl::InvalidArgumentError("Hello lacks a node id, name, incarnation or address");
    }
  }
  if (hello.labels().size() > kMaxLabels) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Hello has ", hello.labels().size(), " labels, but at most ", kMaxLabels, " are allowed"));
  }
  for (const auto& [name, value] : hello.labels()) {
    const std::string problem =
        name == kDeviceLabel ? "no worker sets it" : LabelProblem(name, value);
    if (problem.empty()) continue;
    return absl::InvalidArgumentError(absl::StrCat("a label in Hello is not valid: ", problem));
  }
  return CheckInventory(hello.inventory());
}

v1::Node NodeOf(const v1::Hello& hello) {
  v1::Node node;
  node.set_id(hello.node_id());
  node.set_name(hello.node_name());
  node.set_state(v1::NODE_STATE_READY);
  node.set_address(hello.address());
  *node.mutable_inventory() = hello.inventory();
  *node.mutable_labels() = hello.labels();
  node.set_incarnation(hello.incarnation());
  node.set_worker_version(hello.worker_version());
  return node;
}

bool IsUnchanged(const v1::Node& known, const v1::Node& hello) {
  return known.name() == hello.name() && known.address() == hello.address() &&
         known.incarnation() == hello.incarnation() &&
         known.worker_version() == hello.worker_version() &&
         std::map(known.labels().begin(), known.labels().end()) ==
             std::map(hello.labels().begin(), hello.labels().end()) &&
         google::protobuf::util::MessageDifferencer::Equals(known.inventory(), hello.inventory());
}

bool Reports(const v1::Hello& hello, int64_t job_id, int64_t attempt_number) {
  return std::ranges::any_of(hello.attempts(), [=](const v1::AttemptReport& report) {
    return report.job_id() == job_id && report.attempt() == attempt_number;
  });
}

bool RunsUnmanaged(const ClusterState& state, const v1::Hello& hello, int64_t job_id) {
  return std::ranges::any_of(hello.attempts(), [&](const v1::AttemptReport& report) {
    return report.job_id() == job_id && !report.cleared() &&
           IsUnmanaged(state, {job_id, report.attempt()});
  });
}

bool HasStartedOn(const JobEntry& entry, const v1::Attempt& attempt, const std::string& node_id) {
  return std::ranges::any_of(entry.started_ranks, [&](int rank) {
    return IsSeated(attempt.ranks(rank)) && attempt.ranks(rank).node_id() == node_id;
  });
}

// Returns the AttemptFailed event for the job's live attempt, which lost its ranks on `node`. `why`
// is the reason.
v1::Event LossOf(const NodeEntry& node, const JobEntry& entry, const std::string& why,
                 Timestamp now) {
  v1::Event event;
  event.set_time_ms(now);
  event.set_actor(absl::StrCat("node ", node.node.name()));
  v1::AttemptFailed& failed = *event.mutable_attempt_failed();
  failed.set_job_id(entry.job.id());
  failed.set_attempt(LiveAttempt(entry)->number());
  *failed.mutable_verdict() = NodeLostVerdict(node.node, why, now);
  return event;
}

// Fails attempts whose ranks were started on this node if the worker no longer has any data of the
// attempt on disk. Because the data is lost, the worker will not report any more facts about these
// ranks.
void FailForgottenAttempts(const ClusterState& state, const NodeEntry& node, const v1::Hello& hello,
                           const CoreOptions& options, Timestamp now,
                           std::vector<v1::Event>& events) {
  std::vector<v1::Event> blame;
  for (const int64_t job_id : node.live_jobs) {
    const JobEntry& entry = state.jobs.at(job_id);
    const v1::Attempt& attempt = *LiveAttempt(entry);
    // A job with an unmanaged attempt on this node is paused, not failed.
    const bool over = attempt.state() == v1::ATTEMPT_STATE_STOPPING ||
                      entry.cleared_nodes.contains(hello.node_id()) ||
                      RunsUnmanaged(state, hello, job_id);
    if (over || Reports(hello, job_id, attempt.number()) ||
        !HasStartedOn(entry, attempt, hello.node_id()) ||
        !HasUnexitedRank(entry, attempt, hello.node_id())) {
      continue;
    }
    events.push_back(LossOf(node, entry, "its worker returned without the attempt's data", now));
    if (blame.empty()) {
      blame = BlameFor(events.back().attempt_failed().verdict(), entry.job, attempt, state, options,
                       now);
    }
  }
  std::ranges::move(blame, std::back_inserter(events));
}

// Handles a new node whose place belonged to older nodes: fails the attempts on the older nodes and
// marks these nodes as lost. The data of their workers is lost, and the new worker has killed every
// process of their ranks.
void LoseNodesOfPlace(const ClusterState& state, const v1::Hello& hello, Timestamp now,
                      std::vector<v1::Event>& events) {
  if (hello.place().empty()) return;
  const std::string why = absl::StrCat(
      "its worker lost the files of its data directory and therefore returned as the new node ",
      hello.node_id());
  for (const auto& [id, node] : state.nodes) {
    if (id == hello.node_id() || node.place != hello.place()) continue;
    for (const int64_t job_id : node.live_jobs) {
      const JobEntry& entry = state.jobs.at(job_id);
      const v1::Attempt& attempt = *LiveAttempt(entry);
      const bool over =
          attempt.state() == v1::ATTEMPT_STATE_STOPPING || entry.cleared_nodes.contains(id);
      if (over || !HasUnexitedRank(entry, attempt, id)) continue;
      events.push_back(LossOf(node, entry, why, now));
    }
    if (node.node.state() == v1::NODE_STATE_LOST) continue;
    v1::Event& event = events.emplace_back();
    event.set_time_ms(now);
    event.set_actor("controller");
    event.mutable_node_lost()->set_node_id(id);
    event.mutable_node_lost()->set_reason(why);
  }
}

// Returns an alert for each running gang whose `placement` no longer allows the node, because its
// labels, name or devices have changed. The gang stays.
void WarnOfChangedLabels(const ClusterState& state, const NodeEntry& known, const v1::Node& node,
                         Timestamp now, std::vector<v1::Event>& events) {
  for (const int64_t job_id : known.live_jobs) {
    const JobEntry& entry = state.jobs.at(job_id);
    const v1::JobSpec& spec = entry.job.spec();
    if (!MayUse(spec, known.node) || MayUse(spec, node)) continue;
    v1::Event& event = events.emplace_back();
    event.set_time_ms(now);
    event.set_actor("controller");
    v1::AlertRaised& alert = *event.mutable_alert_raised();
    alert.set_job_id(job_id);
    alert.set_attempt(LiveAttempt(entry)->number());
    alert.set_code(telemetry::kPlacementChanged);
    alert.set_message(absl::StrCat(
        "`placement` no longer allows node ", node.name(),
        ", because its worker returned with other labels, another name or other devices. The ranks "
        "stay on the node; the next attempt uses other nodes"));
  }
}

// Fails an attempt that the worker reports as cleared if the log lacks the exit of some of its
// ranks on that node. The log lacks an exit after a restore from a backup, or if the attempt was
// stopped before its processes were spawned. No more facts about these exits will follow.
void FailAttemptClearedUnrun(const ClusterState& state, const NodeEntry& node,
                             const v1::AttemptCleared& cleared, Timestamp now,
                             std::vector<v1::Event>& events) {
  if (!node.live_jobs.contains(cleared.job_id())) return;
  const JobEntry& entry = state.jobs.at(cleared.job_id());
  const v1::Attempt& attempt = *LiveAttempt(entry);
  const std::string& node_id = node.node.id();
  const bool over = attempt.number() != cleared.attempt() ||
                    attempt.state() == v1::ATTEMPT_STATE_STOPPING ||
                    entry.cleared_nodes.contains(node_id);
  if (over || !HasUnexitedRank(entry, attempt, node_id)) return;
  events.push_back(LossOf(node, entry, "its worker no longer has the attempt", now));
}

// Cordons a node that runs an attempt unknown to the log. The slots of that attempt look free in
// this state, but must not be assigned to another job.
void CordonIfRunsLostJob(const ClusterState& state, const v1::Hello& hello, Timestamp now,
                         std::vector<v1::Event>& events) {
  const auto lost = std::ranges::find_if(hello.attempts(), [&](const v1::AttemptReport& report) {
    return !report.cleared() && IsUnmanaged(state, {report.job_id(), report.attempt()});
  });
  if (lost == hello.attempts().end()) return;
  v1::Event& event = events.emplace_back();
  event.set_time_ms(now);
  event.set_actor("controller");
  event.mutable_node_cordoned()->set_node_id(hello.node_id());
  event.mutable_node_cordoned()->set_reason(
      absl::StrCat("runs attempt ", lost->attempt(), " of job ", lost->job_id(),
                   ". This attempt is not in the event log (a backup was restored, or events are "
                   "lost) and continues unmanaged. Once the attempt has ended or was stopped on "
                   "the node, run trainyard node uncordon ",
                   hello.node_name()));
}

// Returns true if the fact is about a rank of the newest attempt of a known job, and that attempt
// placed this rank on this node. Other facts are received but have no effect.
bool ConcernsRank(const ClusterState& state, const std::string& node_id, int64_t job_id,
                  int64_t attempt_number, int rank) {
  const JobEntry* entry = FindEntry(state, job_id);
  const v1::Attempt* newest = entry == nullptr ? nullptr : NewestAttempt(*entry);
  if (newest == nullptr || newest->number() != attempt_number) return false;
  return 0 <= rank && rank < newest->ranks_size() && newest->ranks(rank).node_id() == node_id;
}

// Returns true if the fact is about an attempt with ranks on this node. The attempt must be the
// newest attempt of a known job, or an older attempt that keeps its slots until it is cleared.
bool ConcernsAttempt(const ClusterState& state, const std::string& node_id, int64_t job_id,
                     int64_t attempt_number) {
  if (state.nodes.at(node_id).uncleared.contains({job_id, attempt_number})) {
    return FindEntry(state, job_id) != nullptr;
  }
  const JobEntry* entry = FindEntry(state, job_id);
  const v1::Attempt* newest = entry == nullptr ? nullptr : NewestAttempt(*entry);
  if (newest == nullptr || newest->number() != attempt_number) return false;
  return std::ranges::any_of(
      newest->ranks(), [&](const v1::RankPlacement& rank) { return rank.node_id() == node_id; });
}

v1::RankExited ExitOf(const ClusterState& state, const ReceiveFact& request, Timestamp now) {
  v1::RankExited exited = request.fact.rank_exited();
  exited.set_log_tail(std::string(LastLines(exited.log_tail(), kMaxLogTailBytes)));
  exited.set_spawn_error(std::string(Utf8Prefix(exited.spawn_error(), kMaxAlertBytes)));
  exited.set_limit_exceeded(std::string(Utf8Prefix(exited.limit_exceeded(), kMaxAlertBytes)));
  exited.set_stacks(std::string(Utf8Prefix(exited.stacks(), kMaxLogTailBytes)));
  const Timestamp corrected_ms = CorrectedTime(exited.time_ms(), request.clock_ahead_ms, now);
  // The node's clock may have been set between the exit and the node's newest message, so the
  // corrected time may be too early. A report that a rank runs is rarely delayed by more than
  // kClockWindowMs. The exit is therefore assumed to be at most kClockWindowMs before the arrival
  // of the last such report.
  const Timestamp earliest_ms = request.ran_ms == 0 ? 0 : request.ran_ms - kClockWindowMs;
  exited.set_corrected_ms(corrected_ms == 0 ? 0 : std::max(corrected_ms, earliest_ms));
  const JobEntry* entry = FindEntry(state, exited.job_id());
  const v1::Attempt* attempt =
      entry == nullptr ? nullptr : controller::FindAttempt(entry->job, exited.attempt());
  exited.set_stop_requested(attempt != nullptr && WasAskedToStop(exited, *attempt));
  return exited;
}

// Returns the ranks on this node that the fact is about. A process may have several ranks, which
// start and exit together.
template <typename FactAboutRank>
std::vector<int> RanksHere(const ClusterState& state, const std::string& node_id,
                           const FactAboutRank& fact) {
  std::vector<int> ranks = {fact.rank()};
  ranks.insert(ranks.end(), fact.further_ranks().begin(), fact.further_ranks().end());
  std::erase_if(ranks, [&](int rank) {
    return !ConcernsRank(state, node_id, fact.job_id(), fact.attempt(), rank);
  });
  return ranks;
}

// Returns the events of the fact. Empty if the fact has no effect on the state.
std::vector<v1::Event> EventsOfFact(const ClusterState& state, const ReceiveFact& request,
                                    Timestamp now) {
  const v1::Fact& fact = request.fact;
  std::vector<v1::Event> events;
  const auto add = [&]() -> v1::Event& {
    return events.emplace_back(NodeEvent(state, request.node_id, now));
  };
  if (fact.has_rank_started()) {
    for (const int rank : RanksHere(state, request.node_id, fact.rank_started())) {
      v1::RankStarted& started = *add().mutable_rank_started();
      started = fact.rank_started();
      started.clear_further_ranks();
      started.set_rank(rank);
    }
  } else if (fact.has_rank_exited()) {
    v1::RankExited exited = ExitOf(state, request, now);
    exited.clear_further_ranks();
    for (const int rank : RanksHere(state, request.node_id, fact.rank_exited())) {
      exited.set_rank(rank);
      *add().mutable_rank_exited() = exited;
    }
  } else if (const v1::AttemptCleared& cleared = fact.attempt_cleared();
             ConcernsAttempt(state, request.node_id, cleared.job_id(), cleared.attempt())) {
    *add().mutable_attempt_cleared() = cleared;
    events.back().mutable_attempt_cleared()->set_node_id(request.node_id);
  }
  return events;
}

std::vector<v1::Event> DecideCheckpoint(const JobEntry& entry, const ReceiveTelemetry& request,
                                        v1::Event event) {
  const v1::CheckpointRecord& record = request.record.checkpoint();
  const int64_t attempt_number = record.attempt() == 0 ? request.attempt : record.attempt();
  // A record must not name a later attempt than its sender. Otherwise a rollback of the sender
  // would not remove the record.
  if (attempt_number < 1 || attempt_number > request.attempt) return {};
  const auto known =
      std::ranges::find_if(entry.job.checkpoints(), [&](const v1::Checkpoint& other) {
        return other.step() == record.step() &&
               (other.attempt() == attempt_number || other.path() == record.path());
      });
  const bool is_known = known != entry.job.checkpoints().end();
  if (record.deleted()) {
    if (!is_known) return {};
    v1::CheckpointDeleted& deleted = *event.mutable_checkpoint_deleted();
    deleted.set_job_id(entry.job.id());
    deleted.set_step(known->step());
    deleted.set_attempt(known->attempt());
    return {std::move(event)};
  }
  const bool repeated =
      is_known && known->attempt() == attempt_number && known->path() == record.path();
  if (repeated || record.path().empty() || record.path().size() > kMaxPathBytes) return {};
  event.mutable_checkpoint_published()->set_job_id(entry.job.id());
  v1::Checkpoint& checkpoint = *event.mutable_checkpoint_published()->mutable_checkpoint();
  checkpoint.set_step(record.step());
  checkpoint.set_attempt(attempt_number);
  checkpoint.set_path(record.path());
  checkpoint.set_bytes(record.bytes());
  checkpoint.set_time_ms(request.record.time_ms());
  checkpoint.set_metric(record.metric());
  checkpoint.set_metric_value(record.metric_value());
  return {std::move(event)};
}

std::vector<v1::Event> DecideAlert(const ReceiveTelemetry& request, v1::Event event) {
  const v1::AlertRecord& record = request.record.alert();
  v1::AlertRaised& alert = *event.mutable_alert_raised();
  alert.set_job_id(request.job_id);
  alert.set_attempt(request.attempt);
  alert.set_step(record.step());
  alert.set_code(std::string(Utf8Prefix(record.code(), kMaxReasonBytes)));
  alert.set_message(std::string(Utf8Prefix(record.message(), kMaxAlertBytes)));
  return {std::move(event)};
}

}  // namespace

absl::StatusOr<std::vector<v1::Event>> DecideAttach(const ClusterState& state,
                                                    const AttachWorker& request,
                                                    const CoreOptions& options, Timestamp now) {
  const v1::Hello& hello = request.hello;
  TRAINYARD_RETURN_IF_ERROR(CheckHello(hello));
  TRAINYARD_RETURN_IF_ERROR(CheckNodeIdentity(state, hello));
  if (request.events_lost && !IsRecorded(state, hello.log_mark())) {
    return absl::UnavailableError(
        "the event log has lost events that this worker has seen, and the controller cannot record "
        "this loss now; the worker tries again later");
  }
  std::vector<v1::Event> events;
  const v1::Node node = NodeOf(hello);
  const auto known = state.nodes.find(hello.node_id());
  const bool is_known = known != state.nodes.end();
  v1::Event event;
  event.set_time_ms(now);
  event.set_actor(absl::StrCat("node ", node.name()));
  v1::NodeJoined& joined = *event.mutable_node_joined();
  *joined.mutable_node() = node;
  joined.set_secret_hash(hello.node_secret());
  joined.set_node_key(hello.node_key());
  joined.set_place(hello.place());
  const bool is_change = !is_known || AddsIdentity(known->second.binding, joined) ||
                         known->second.place != hello.place() ||
                         known->second.node.state() == v1::NODE_STATE_LOST ||
                         !IsUnchanged(known->second.node, node);
  if (is_change) events.push_back(std::move(event));
  std::vector<v1::Event> pauses = PausesForUnmanaged(state, hello, now);
  if (is_known) WarnOfChangedLabels(state, known->second, node, now, events);
  if (is_known) FailForgottenAttempts(state, known->second, hello, options, now, events);
  if (!is_known) LoseNodesOfPlace(state, hello, now, events);
  if (!is_known || !known->second.node.cordoned()) CordonIfRunsLostJob(state, hello, now, events);
  std::ranges::move(pauses, std::back_inserter(events));
  return events;
}

absl::StatusOr<std::vector<v1::Event>> DecideFact(const ClusterState& state,
                                                  const ReceiveFact& request, Timestamp now) {
  const auto node = state.nodes.find(request.node_id);
  if (node == state.nodes.end()) {
    return absl::FailedPreconditionError(
        absl::StrCat("node ", request.node_id, " sent facts before it attached"));
  }
  const uint64_t sequence = request.fact.sequence();
  const uint64_t stored = node->second.fact_sequence;
  if (sequence == 0 || request.fact.kind_case() == v1::Fact::KIND_NOT_SET) {
    return absl::InvalidArgumentError(
        "a fact needs a number of at least 1 and a kind that this controller knows");
  }
  if (sequence <= stored) return std::vector<v1::Event>();
  if (sequence > stored + 1) {
    return absl::OutOfRangeError(absl::StrCat("fact ", sequence, " of node ",
                                              node->second.node.name(), " arrived, but fact ",
                                              stored + 1, " was expected"));
  }
  std::vector<v1::Event> events = EventsOfFact(state, request, now);
  if (!events.empty() && events.back().has_rank_started()) {
    const JobEntry& entry = state.jobs.at(request.fact.rank_started().job_id());
    auto health = SucceededStart(node->second, *NewestAttempt(entry), now);
    if (health.has_value()) events.push_back(*std::move(health));
  }
  if (request.fact.has_attempt_cleared()) {
    FailAttemptClearedUnrun(state, node->second, request.fact.attempt_cleared(), now, events);
  }
  v1::FactsReceived& received =
      *events.emplace_back(NodeEvent(state, request.node_id, now)).mutable_facts_received();
  received.set_node_id(request.node_id);
  received.set_fact_sequence(sequence);
  return events;
}

std::vector<v1::Event> DecideTelemetry(const ClusterState& state, const ReceiveTelemetry& request,
                                       Timestamp now) {
  const JobEntry* entry = FindEntry(state, request.job_id);
  v1::Event event;
  event.set_time_ms(now);
  event.set_actor(absl::StrCat("rank ", request.rank));
  // A node may send output of an archived job after a long disconnection. The job's alerts are
  // still recorded, because alerts need no state. The job's checkpoint records are ignored.
  if (entry == nullptr && IsArchived(state, request.job_id) && request.record.has_alert()) {
    return DecideAlert(request, std::move(event));
  }
  const v1::Attempt* newest = entry == nullptr ? nullptr : NewestAttempt(*entry);
  const bool is_known =
      newest != nullptr && 0 < request.attempt && request.attempt <= newest->number();
  if (!is_known) return {};
  if (request.record.has_checkpoint()) {
    return DecideCheckpoint(*entry, request, std::move(event));
  }
  if (request.record.has_environment()) {
    return DecideEnvironment(*entry, request, std::move(event));
  }
  if (request.loss.has_value()) return DecideLoss(*entry, request, *request.loss, event);
  if (!request.record.has_alert()) return {};
  if (const auto finding = FindingOf(request.record.alert())) {
    std::vector<v1::Event> events = DecideLoss(*entry, request, *finding, event);
    if (!events.empty()) return events;
  }
  return DecideAlert(request, std::move(event));
}

}  // namespace trainyard::controller
