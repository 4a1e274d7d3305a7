#include "controller/core/health/node_health.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/support/wait.h"
#include "proto/text/duration_text.h"

namespace trainyard::controller {
namespace {

v1::Event HealthEvent(const std::string& node_id, v1::NodeHealth health, Timestamp now) {
  v1::Event event;
  event.set_time_ms(now);
  event.set_actor("controller");
  const bool is_over =
      health.failed_starts() == 0 && health.reported().empty() && !health.has_quarantine();
  if (is_over) {
    event.mutable_node_healthy()->set_node_id(node_id);
  } else {
    event.mutable_node_unhealthy()->set_node_id(node_id);
    *event.mutable_node_unhealthy()->mutable_health() = std::move(health);
  }
  return event;
}

// Returns true if the attempt was placed after the node's last failed start, so that the attempt's
// start is new evidence. The result is also true if the clock was set back since that start.
bool IsNews(const v1::NodeHealth& health, const v1::Attempt& attempt, Timestamp now) {
  return attempt.placed_time_ms() > health.failed_time_ms() || now < health.failed_time_ms();
}

bool WaitsAfterFailure(const v1::NodeHealth& health, Timestamp now) {
  return health.failed_starts() > 0 &&
         !HasPassed(health.failed_time_ms(), health.retry_not_before_ms(), now);
}

// True while an attempt that was placed after the node's last failed start has ranks on the node.
bool IsBeingTried(const ClusterState& state, const NodeEntry& node, Timestamp now) {
  const v1::NodeHealth& health = node.node.health();
  return std::ranges::any_of(node.live_jobs, [&](int64_t job_id) {
    return IsNews(health, *LiveAttempt(state.jobs.at(job_id)), now);
  });
}

bool IsClosed(const ClusterState& state, const NodeEntry& node, Timestamp now) {
  const v1::NodeHealth& health = node.node.health();
  const bool is_shut = health.has_quarantine() || !health.reported().empty();
  if (is_shut || WaitsAfterFailure(health, now)) return true;
  return IsBeingTried(state, node, now);
}

}  // namespace

bool IsHealthy(const v1::Node& node) { return !node.has_health(); }

std::optional<v1::Event> FailedStart(const NodeEntry& node, const v1::Attempt& attempt,
                                     const std::string& reason, Timestamp now) {
  v1::NodeHealth health = node.node.health();
  if (health.failed_starts() > 0 && !IsNews(health, attempt, now)) return std::nullopt;
  int64_t wait_ms = kFirstRetryMs;
  for (int i = 0; i < health.failed_starts() && wait_ms < kLongestRetryMs; ++i) wait_ms *= 2;
  if (health.since_ms() == 0) health.set_since_ms(now);
  health.set_reason(reason);
  health.set_failed_starts(health.failed_starts() + 1);
  health.set_failed_time_ms(now);
  health.set_retry_not_before_ms(now + std::min(wait_ms, kLongestRetryMs));
  return HealthEvent(node.node.id(), std::move(health), now);
}

std::optional<v1::Event> SucceededStart(const NodeEntry& node, const v1::Attempt& attempt,
                                        Timestamp now) {
  const v1::NodeHealth& health = node.node.health();
  if (health.failed_starts() == 0 || !IsNews(health, attempt, now)) return std::nullopt;
  return WithoutFailedStarts(node.node, now);
}

v1::Event WithoutFailedStarts(const v1::Node& node, Timestamp now) {
  v1::NodeHealth health = node.health();
  health.set_reason(health.reported().empty() ? health.quarantine().reason() : health.reported());
  health.clear_failed_starts();
  health.clear_failed_time_ms();
  health.clear_retry_not_before_ms();
  return HealthEvent(node.id(), std::move(health), now);
}

std::vector<v1::Event> ReportedHealthDue(const ClusterState& state,
                                         const Observations& observations, Timestamp now) {
  std::vector<v1::Event> events;
  const auto take_report = [&](const NodeEntry& node, const NodeObservation& observed) {
    const std::string& trouble = observed.condition.trouble();
    v1::NodeHealth health = node.node.health();
    // The numbers in the trouble text may change with each report. Therefore only the beginning and
    // the end of a trouble cause events.
    if (!observed.attached || trouble.empty() == health.reported().empty()) return;
    health.set_reported(trouble);
    if (health.since_ms() == 0) health.set_since_ms(now);
    if (health.failed_starts() == 0) health.set_reason(trouble);
    // The trouble that has just ended probably caused the failed starts, so the node may be tried
    // again now.
    if (trouble.empty() && health.failed_starts() > 0) health.set_retry_not_before_ms(now);
    events.push_back(HealthEvent(node.node.id(), std::move(health), now));
  };
  for (const std::string& node_id : observations.troubled_nodes) {
    const auto node = state.nodes.find(node_id);
    if (node == state.nodes.end()) continue;
    take_report(node->second, observations.nodes.at(node_id));
  }
  for (const std::string& node_id : state.unhealthy_nodes) {
    const auto observed = observations.nodes.find(node_id);
    if (observed == observations.nodes.end() || observations.troubled_nodes.contains(node_id)) {
      continue;
    }
    take_report(state.nodes.at(node_id), observed->second);
  }
  return events;
}

std::set<std::string> ClosedNodes(const ClusterState& state, Timestamp now) {
  std::set<std::string> closed;
  for (const std::string& node_id : state.unhealthy_nodes) {
    if (IsClosed(state, state.nodes.at(node_id), now)) closed.insert(node_id);
  }
  return closed;
}

std::string HealthText(const v1::Node& node, Timestamp now) {
  const v1::NodeHealth& health = node.health();
  if (health.has_quarantine()) {
    return absl::StrCat("quarantined: ", health.quarantine().reason(),
                        "; passing checks or `trainyard node release ", node.name(),
                        "` end the quarantine");
  }
  std::string text = absl::StrCat("unhealthy: ", health.reason());
  if (!health.reported().empty() && health.reported() != health.reason()) {
    absl::StrAppend(&text, "; ", health.reported());
  }
  if (WaitsAfterFailure(health, now)) {
    absl::StrAppend(&text, "; retry in ", DurationText(health.retry_not_before_ms() - now));
  } else if (health.failed_starts() > 0 && health.reported().empty()) {
    absl::StrAppend(&text, "; one attempt may be placed on the node as a test");
  }
  return text;
}

v1::NodeWord WordOf(const v1::Node& node) {
  if (node.state() == v1::NODE_STATE_LOST) return v1::NODE_WORD_LOST;
  if (node.state() == v1::NODE_STATE_SUSPECT) return v1::NODE_WORD_SUSPECT;
  if (node.health().has_quarantine()) return v1::NODE_WORD_QUARANTINED;
  if (node.has_health()) return v1::NODE_WORD_UNHEALTHY;
  if (node.has_drain()) return IsDraining(node) ? v1::NODE_WORD_DRAINING : v1::NODE_WORD_DRAINED;
  return node.cordoned() ? v1::NODE_WORD_CORDONED : v1::NODE_WORD_OK;
}

std::string CordonText(const v1::Node& node, Timestamp now) {
  std::string word = node.has_drain() ? "drained" : "cordoned";
  if (IsDraining(node)) {
    const int64_t left_ms = node.drain().deadline_ms() - now;
    word = left_ms > 0 ? absl::StrCat("draining (jobs leave within ", DurationText(left_ms), ")")
                       : "draining (jobs are leaving)";
  }
  return absl::StrCat(word, ": ", node.cordon_reason());
}

}  // namespace trainyard::controller
