#include "controller/api/cluster/node_view.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "controller/api/cluster/cluster_handlers.h"
#include "controller/core/decide/references.h"
#include "controller/core/observations/device_history.h"

namespace trainyard::controller {
namespace {

constexpr int kLongestHours = 24;
constexpr int64_t kHourMs = 3'600'000;
// The shortest interval. Readings arrive about every minute, so each interval has a reading.
constexpr int64_t kShortestIntervalMs = 120'000;
// Limits the time that a request takes on the loop thread to a few milliseconds.
constexpr int64_t kRanksExaminedMax = 1'000'000;

// Returns the ranks of the attempt on the node, ascending.
std::vector<int> RanksOn(const v1::Attempt& attempt, const std::string& node_id) {
  std::vector<int> ranks;
  for (const v1::RankPlacement& rank : attempt.ranks()) {
    if (rank.node_id() == node_id) ranks.push_back(rank.rank());
  }
  std::ranges::sort(ranks);
  return ranks;
}

v1::NodeAttempt NodeAttemptOf(const v1::Job& job, const v1::Attempt& attempt,
                              const std::string& node_id, const std::vector<int>& ranks) {
  v1::NodeAttempt found;
  found.set_job_id(job.id());
  found.set_job_name(job.name());
  found.set_attempt(attempt.number());
  found.mutable_ranks()->Assign(ranks.begin(), ranks.end());
  found.set_state(attempt.state());
  found.set_stop_reason(attempt.stop_reason());
  found.set_cause(attempt.verdict().cause());
  found.set_summary(attempt.verdict().summary());
  found.set_at_fault(attempt.verdict().node_id() == node_id);
  found.set_placed_time_ms(attempt.placed_time_ms());
  found.set_ended_time_ms(attempt.ended_time_ms());
  found.set_last_step(attempt.last_step());
  return found;
}

}  // namespace

std::vector<v1::NodeAttempt> AttemptsOn(const ClusterState& state, const std::string& node_id) {
  std::vector<v1::NodeAttempt> attempts;
  int64_t examined = 0;
  for (const auto& [id, entry] : std::views::reverse(state.jobs)) {
    if (examined > kRanksExaminedMax) break;
    for (const v1::Attempt& attempt : entry.job.attempts()) {
      examined += attempt.ranks_size();
      const std::vector<int> ranks = RanksOn(attempt, node_id);
      if (!ranks.empty()) attempts.push_back(NodeAttemptOf(entry.job, attempt, node_id, ranks));
    }
  }
  std::ranges::stable_sort(attempts, std::ranges::greater(), &v1::NodeAttempt::placed_time_ms);
  if (attempts.size() > kNodeAttemptsMax) attempts.resize(kNodeAttemptsMax);
  return attempts;
}

std::vector<v1::DeviceHistory> DevicesOf(const v1::Node& node, int hours, const ClusterView& view) {
  std::vector<v1::DeviceHistory> histories;
  const auto observed = view.observations.nodes.find(node.id());
  if (observed == view.observations.nodes.end()) return histories;
  const int64_t span_ms = hours * kHourMs;
  const int64_t interval_ms = std::max(kShortestIntervalMs, span_ms / kDeviceIntervalsMax);
  for (const v1::Slot& slot : node.inventory().slots()) {
    const auto record = observed->second.devices.find(slot.uuid());
    if (record == observed->second.devices.end()) continue;
    histories.push_back(HistoryOf(slot, record->second, view.now - span_ms, interval_ms));
  }
  return histories;
}

void handlers::GetNode(const Api& api, const Principal& /*principal*/,
                       const v1::GetNodeRequest& request, Reply<v1::GetNodeResponse> reply) {
  if (request.hours() < 0 || request.hours() > kLongestHours) {
    return reply(absl::InvalidArgumentError("hours must be between 0 and 24"));
  }
  const int hours = request.hours() == 0 ? kLongestHours : request.hours();
  api.loop.Read([node = request.node(), hours, reply = std::move(reply)](const ClusterView& view) {
    const auto node_id = FindNode(view.state, node);
    if (!node_id.ok()) return reply(node_id.status());
    v1::GetNodeResponse response;
    *response.mutable_node() = NodeNow(view.state.nodes.at(*node_id), view);
    AddReservations(ReservedNodes(view.state, view.now), *response.mutable_node());
    for (v1::NodeAttempt& attempt : AttemptsOn(view.state, *node_id)) {
      *response.add_attempts() = std::move(attempt);
    }
    for (v1::DeviceHistory& device : DevicesOf(response.node(), hours, view)) {
      *response.add_devices() = std::move(device);
    }
    response.set_revision(view.revision);
    response.set_as_of_ms(view.now);
    reply(std::move(response));
  });
}

}  // namespace trainyard::controller
