#include "controller/core/health/quarantine.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/nodes/evidence_list.h"
#include "controller/core/support/core_options.h"
#include "controller/core/support/text.h"
#include "controller/core/support/wait.h"
#include "controller/core/verdict/cause_rules.h"
#include "controller/core/verdict/verdict_facts.h"
#include "proto/contract/exit_code.h"
#include "proto/contract/limits.h"
#include "proto/contract/xid.h"
#include "proto/text/duration_text.h"
#include "proto/text/utf8.h"

namespace trainyard::controller {
namespace {

constexpr int64_t kDayMs = 86'400'000;
// If at least this many other nodes send no heartbeat either, the loss of a node is attributed to
// the network or the power supply, and the node is not blamed.
constexpr int kSilentTogether = 2;
// A quarantine for a failed link ends after the worker has reported for this time without a pause.
constexpr int64_t kLinkCheckMs = 300'000;
// Device errors within this time of a known error are treated as the same error. Workers report the
// same error repeatedly, with times of their own clock, which may change.
constexpr int64_t kSameErrorMs = 60'000;

v1::Event CoreEvent(Timestamp now) {
  v1::Event event;
  event.set_time_ms(now);
  event.set_actor("controller");
  return event;
}

// Returns the time of the newest evidence of this fault. If `is_fatal`, considers only fatal
// evidence.
Timestamp NewestOf(const v1::Node& node, v1::NodeFault fault, bool is_fatal = false) {
  Timestamp newest = 0;
  for (const v1::NodeEvidence& evidence : node.evidence()) {
    if (is_fatal && !evidence.fatal()) continue;
    if (evidence.fault() == fault) newest = std::max(newest, evidence.time_ms());
  }
  return newest;
}

// Returns true if the evidence is based on the output or behavior of a job. A bug in the job's
// program can also produce such evidence.
bool IsWordOfJob(const v1::NodeEvidence& evidence) {
  return evidence.job_id() != 0 &&
         (evidence.fault() == v1::NODE_FAULT_DEVICE || evidence.fault() == v1::NODE_FAULT_STALLED);
}

// Returns the number of failures that count towards a quarantine, including `another`. Counts the
// failures within the window and after the last release. All evidence from the output or behavior
// of the same job counts as one failure.
int FailuresOf(const v1::Node& node, const v1::NodeEvidence& another, int64_t window_ms) {
  int failures = 0;
  std::set<int64_t> jobs_with_word;
  const auto count = [&](const v1::NodeEvidence& evidence) {
    const bool is_over = evidence.time_ms() <= another.time_ms() - window_ms ||
                         evidence.time_ms() <= node.released_time_ms();
    if (is_over || !CountsAsFailure(evidence)) return;
    const bool is_new = !IsWordOfJob(evidence) || jobs_with_word.insert(evidence.job_id()).second;
    if (is_new) ++failures;
  };
  for (const v1::NodeEvidence& evidence : node.evidence()) count(evidence);
  count(another);
  return failures;
}

bool MayQuarantine(const ClusterState& state) {
  const auto quarantined = std::ranges::count_if(state.unhealthy_nodes, [&](const auto& id) {
    return state.nodes.at(id).node.health().has_quarantine();
  });
  const auto most = std::max<std::size_t>(1, state.nodes.size() / kQuarantinedPart);
  return static_cast<std::size_t>(quarantined) < most;
}

// Returns the minimum length of a quarantine: quarantine_ms, doubled for each older failure of the
// last week, but at most a day.
int64_t LeastLengthMs(const v1::Node& node, int failures, const CoreOptions& options,
                      Timestamp now) {
  const auto in_week = std::ranges::count_if(node.evidence(), [&](const auto& evidence) {
    return CountsAsFailure(evidence) && evidence.time_ms() > now - 7 * kDayMs;
  });
  int64_t length_ms = options.quarantine_ms;
  for (int64_t i = failures; i <= in_week && length_ms < kDayMs; ++i) length_ms *= 2;
  return std::min(length_ms, std::max(kDayMs, options.quarantine_ms));
}

std::vector<v1::Event> Blame(const v1::Node& node, v1::NodeEvidence evidence,
                             const ClusterState& state, const CoreOptions& options, Timestamp now) {
  const int failures = FailuresOf(node, evidence, options.evidence_window_ms);
  const bool is_enough =
      CountsAsFailure(evidence) && failures >= options.quarantine_failures && MayQuarantine(state);
  std::vector<v1::Event> events;
  if (!node.health().has_quarantine() && (evidence.fatal() || is_enough)) {
    v1::Event event = CoreEvent(now);
    event.mutable_node_unhealthy()->set_node_id(node.id());
    v1::NodeHealth& health = *event.mutable_node_unhealthy()->mutable_health();
    health = node.health();
    if (health.since_ms() == 0) health.set_since_ms(now);
    v1::NodeQuarantine& quarantine = *health.mutable_quarantine();
    quarantine.set_since_ms(now);
    quarantine.set_reason(evidence.fatal() ? evidence.reason()
                                           : absl::StrCat(failures, " failures in ",
                                                          DurationText(options.evidence_window_ms),
                                                          "; the newest is: ", evidence.reason()));
    quarantine.set_checks_count_from_ms(now + LeastLengthMs(node, failures, options, now));
    if (health.reason().empty()) health.set_reason(quarantine.reason());
    events.push_back(std::move(event));
  }
  v1::Event blamed = CoreEvent(now);
  blamed.mutable_node_blamed()->set_node_id(node.id());
  *blamed.mutable_node_blamed()->mutable_evidence() = std::move(evidence);
  events.insert(events.begin(), std::move(blamed));
  return events;
}

// Returns the kind of failure for which the verdict blames a node; unspecified if there is none.
v1::NodeFault FaultOf(const v1::Verdict& verdict, const v1::Attempt& attempt) {
  const CauseRules& rules = RulesOf(verdict.cause());
  if (rules.blames == Rule::kYes) return rules.fault;
  if (rules.blames == Rule::kNo) return v1::NODE_FAULT_UNSPECIFIED;
  const bool is_alone = verdict.ranks_size() == 1 && GangSize(attempt) > 1;
  const bool is_proven =
      rules.fault == v1::NODE_FAULT_STALLED
          ? is_alone
          : IsDeviceFault(verdict) || DeviceErrorIn(verdict.log_tail()).has_value();
  return is_proven ? rules.fault : v1::NODE_FAULT_UNSPECIFIED;
}

bool IsLostWithOthers(const ClusterState& state, const std::string& node_id,
                      const CoreOptions& options, Timestamp now) {
  int silent = 0;
  for (const auto& [id, entry] : state.nodes) {
    const bool lost_of_late = entry.node.state() == v1::NODE_STATE_LOST &&
                              now - entry.node.last_heartbeat_ms() < options.lease_ms;
    const bool is_silent = entry.node.state() == v1::NODE_STATE_SUSPECT || lost_of_late;
    if (id != node_id && is_silent) ++silent;
  }
  return silent >= kSilentTogether;
}

std::string XidText(const Xid& xid) {
  return absl::StrCat("Xid ", xid.number, " (", std::string(xid.meaning), ")");
}

// Converts the time of an error from the node's clock to the controller's clock. Returns the time
// unchanged if the offset of the node's clock is unknown.
Timestamp NodeTime(int64_t time_ms, const NodeObservation& observed, Timestamp now) {
  const Timestamp corrected_ms = CorrectedTime(time_ms, observed.clock.AheadMs(), now);
  return corrected_ms == 0 ? std::min<int64_t>(time_ms, now) : corrected_ms;
}

void AddDeviceErrors(const NodeObservation& observed, const v1::Node& node,
                     const ClusterState& state, const CoreOptions& options, Timestamp now,
                     std::vector<v1::Event>& events) {
  for (const v1::DeviceError& error : observed.condition.device_errors()) {
    const std::optional<Xid> xid = FindXid(error.xid());
    if (!xid.has_value() || xid->blame == XidBlame::kProgram) continue;
    const Timestamp time = NodeTime(error.time_ms(), observed, now);
    // A fatal error may directly follow another error, but is more specific. Therefore fatal errors
    // are compared only with each other.
    const bool is_fatal = xid->blame == XidBlame::kFatal;
    const bool is_known = time <= NewestOf(node, v1::NODE_FAULT_DEVICE, is_fatal) + kSameErrorMs;
    if (is_known || time <= node.released_time_ms()) continue;
    v1::NodeEvidence evidence;
    evidence.set_time_ms(time);
    evidence.set_fault(v1::NODE_FAULT_DEVICE);
    evidence.set_xid(xid->number);
    evidence.set_fatal(is_fatal);
    evidence.set_reason(absl::StrCat("device ", std::string(Utf8Prefix(error.device(), 32)), ": ",
                                     XidText(*xid), " in the kernel log"));
    std::ranges::move(Blame(node, std::move(evidence), state, options, now),
                      std::back_inserter(events));
    return;  // The next call sees this error in the state and handles the others.
  }
}

// Returns true if the worker reports a fatal device error. A worker reports such an error until the
// worker restarts, for example after a reboot.
bool HasFatalError(const v1::NodeCondition& condition) {
  return std::ranges::any_of(condition.device_errors(), [](const v1::DeviceError& error) {
    const std::optional<Xid> xid = FindXid(error.xid());
    return xid.has_value() && xid->blame == XidBlame::kFatal;
  });
}

// Returns true if the worker's reports have arrived without a long pause for kLinkCheckMs, and the
// worker has reported checks since the quarantine began.
bool HasHeldLink(const NodeObservation& observed, const v1::NodeQuarantine& quarantine,
                 Timestamp now) {
  return now - observed.reports_since_ms >= kLinkCheckMs &&
         observed.checked_ms >= quarantine.since_ms();
}

// Returns true if the quarantine has lasted for its minimum length, and the worker has reported
// checks since then.
bool HasLasted(const NodeObservation& observed, const v1::NodeQuarantine& quarantine,
               Timestamp now) {
  const Timestamp from_ms = quarantine.checks_count_from_ms();
  // If the clock was set back after the quarantine began, reported checks count regardless of their
  // time.
  return HasPassed(quarantine.since_ms(), from_ms, now) &&
         (observed.checked_ms >= from_ms || now < quarantine.since_ms());
}

bool HasPassedChecks(const NodeObservation& observed, const v1::Node& node, Timestamp now) {
  const v1::NodeQuarantine& quarantine = node.health().quarantine();
  const bool is_time = IsOfLink(node) ? HasHeldLink(observed, quarantine, now)
                                      : HasLasted(observed, quarantine, now);
  return observed.attached && is_time && observed.condition.trouble().empty() &&
         !HasFatalError(observed.condition) && !observed.checks.empty() &&
         std::ranges::all_of(observed.checks, &v1::NodeCheck::ok);
}

}  // namespace

std::vector<v1::Event> BlameFor(const v1::Verdict& verdict, const v1::Job& job,
                                const v1::Attempt& attempt, const ClusterState& state,
                                const CoreOptions& options, Timestamp now) {
  const v1::NodeFault fault = FaultOf(verdict, attempt);
  const auto found = state.nodes.find(verdict.node_id());
  if (fault == v1::NODE_FAULT_UNSPECIFIED || found == state.nodes.end()) return {};
  const v1::Node& node = found->second.node;
  const Timestamp newest =
      std::max(NewestOf(node, fault),
               fault == v1::NODE_FAULT_LOST ? NewestOf(node, v1::NODE_FAULT_LINK) : Timestamp{0});
  if (newest <= now && attempt.placed_time_ms() <= newest) return {};
  if (fault == v1::NODE_FAULT_LOST && IsLostWithOthers(state, node.id(), options, now)) return {};
  v1::NodeEvidence evidence;
  evidence.set_time_ms(now);
  evidence.set_fault(fault);
  evidence.set_job_id(job.id());
  evidence.set_attempt(attempt.number());
  if (fault == v1::NODE_FAULT_STALLED) evidence.set_rank(verdict.rank());
  if (const auto xid = DeviceErrorIn(verdict.log_tail());
      fault == v1::NODE_FAULT_DEVICE && xid.has_value()) {
    evidence.set_xid(xid->number);
    evidence.set_reason(absl::StrCat(XidText(*xid), " in the output of rank ", verdict.rank(),
                                     " of ", JobText(job)));
  } else {
    evidence.set_reason(std::string(
        Utf8Prefix(absl::StrCat(JobText(job), ": ", verdict.summary()), kMaxReasonBytes)));
  }
  return Blame(node, std::move(evidence), state, options, now);
}

std::vector<v1::Event> QuarantineEventsDue(const ClusterState& state,
                                           const Observations& observations,
                                           const CoreOptions& options, Timestamp now) {
  std::vector<v1::Event> events;
  for (const std::string& node_id : observations.nodes_with_device_errors) {
    const auto node = state.nodes.find(node_id);
    if (node == state.nodes.end()) continue;
    AddDeviceErrors(observations.nodes.at(node_id), node->second.node, state, options, now, events);
    // Events of other nodes may depend on these events, because the number of quarantined nodes is
    // limited.
    if (!events.empty()) return events;
  }
  for (const std::string& node_id : state.unhealthy_nodes) {
    const v1::Node& node = state.nodes.at(node_id).node;
    const auto observed = observations.nodes.find(node_id);
    if (!node.health().has_quarantine() || observed == observations.nodes.end()) continue;
    if (!HasPassedChecks(observed->second, node, now)) continue;
    const char* reason = IsOfLink(node) ? "its link works again, and it has passed its checks"
                                        : "it has passed its checks";
    if (auto event = Release(node, reason, now)) {
      events.push_back(*std::move(event));
    }
  }
  return events;
}

std::optional<v1::Event> Release(const v1::Node& node, const std::string& reason, Timestamp now) {
  const bool counts = std::ranges::any_of(node.evidence(), [&](const auto& evidence) {
    return evidence.time_ms() > node.released_time_ms();
  });
  if (!node.health().has_quarantine() && !counts) return std::nullopt;
  v1::Event event = CoreEvent(now);
  event.mutable_node_released()->set_node_id(node.id());
  event.mutable_node_released()->set_reason(reason);
  return event;
}

int ScoreOf(const v1::Node& node, Timestamp now) {
  double lost = 0;
  for (const v1::NodeEvidence& evidence : node.evidence()) {
    const auto age_ms = static_cast<double>(std::max<int64_t>(0, now - evidence.time_ms()));
    lost += (evidence.fatal() ? 50 : 25) * std::exp2(-age_ms / static_cast<double>(kDayMs));
  }
  return static_cast<int>(std::lround(std::max(0.0, 100 - lost)));
}

}  // namespace trainyard::controller
