#include "controller/core/schedule/host_releases.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "controller/core/state/slots/class_of_job.h"

namespace trainyard::controller {
namespace {

// The maximum number of slots of a node (resources.slots_per_node).
constexpr int kMostSeats = 1024;

// Returns the number of ranks with this request that the amount suffices for.
int64_t CountRanks(const HostAmount& amount, const HostAmount& per_rank) {
  int64_t count = INT64_MAX;
  if (per_rank.cpus > 0) count = std::min(count, amount.cpus / per_rank.cpus);
  if (per_rank.memory_bytes > 0) {
    count = std::min(count, amount.memory_bytes / per_rank.memory_bytes);
  }
  return std::max<int64_t>(count, 0);
}

// Replaces the release times of the node's slots by those of its seats.
void LimitToHost(const NodeEntry& node, const HostAmount& per_rank,
                 const ExpectedEnds& expected_ends, Timestamp now, ReleaseTimes& times) {
  std::vector<std::pair<Timestamp, HostAmount>> released;
  for (const SlotHolder& holder : node.holders) {
    if (holder.host.IsZero()) continue;
    const Timestamp end = holder.is_uncleared ? now + kUnknownRunMs
                                              : std::max(now, expected_ends(holder.attempt.job_id));
    released.emplace_back(end, holder.host);
  }
  std::ranges::sort(released);
  std::ranges::sort(times);
  HostAmount free = node.free_host;
  auto next = released.begin();
  Timestamp at = now;
  int64_t seats = 0;
  for (Timestamp& time : times) {
    ++seats;
    while (CountRanks(free, per_rank) < seats && next != released.end()) {
      free = free + next->second;
      at = next->first;
      ++next;
    }
    time = CountRanks(free, per_rank) < seats ? kNever : std::max(time, at);
  }
}

}  // namespace

Releases ReleasesForHead(const ClusterState& state, const PlacementPass& pass, const JobEntry& head,
                         const ExpectedEnds& expected_ends, Timestamp now) {
  const GangShape shape = GangRequestOf(head.job.spec()).Least();
  const auto ends = [&](int64_t job_id) {
    return job_id == head.job.id() ? now : expected_ends(job_id);
  };
  Releases releases = ReleasesOf(state, pass, shape.kind, ends, now);
  const bool has_reservations = !pass.reserved().empty();
  if (shape.host.IsZero() && !has_reservations) return releases;
  const JobClass job_class = ClassOf(head.job);
  for (const auto& [id, entry] : state.nodes) {
    ReleaseTimes* found = releases.Find(id);
    if (found == nullptr) continue;
    if (!shape.host.IsZero()) LimitToHost(entry, shape.host, ends, now, *found);
    if (!has_reservations) continue;
    for (Timestamp& time : *found) {
      if (time != kNever) time = pass.reserved().StartOn(id, job_class, time);
    }
  }
  return releases;
}

void OccupySeats(const Gang& gang, const JobEntry& job, const JobEntry& head, Timestamp now,
                 Releases& releases) {
  const GangShape shape = GangRequestOf(head.job.spec()).Least();
  const JobClass job_class = ClassOf(job.job);
  const bool same_kind = job_class.kind == shape.kind;
  if (!same_kind && (shape.host.IsZero() || job_class.host_per_rank.IsZero())) return;
  const Timestamp end = std::min(LatestEnd(job_class, now), now + kUnknownRunMs);
  for (const NodeSlots& node : gang) {
    ReleaseTimes* found = releases.Find(node.node_id);
    if (found == nullptr) continue;
    const int slots = static_cast<int>(node.slots.size());
    OccupySlots(SeatsTaken(slots, job_class.host_per_rank, shape), end, *found);
  }
}

int SeatsTaken(int slots, const HostAmount& per_rank, const GangShape& head) {
  const auto parts = [&](int64_t amount, int64_t of_seat) {
    return of_seat == 0 ? 0 : (amount * slots + of_seat - 1) / of_seat;
  };
  const int64_t seats = std::max({int64_t{slots}, parts(per_rank.cpus, head.host.cpus),
                                  parts(per_rank.memory_bytes, head.host.memory_bytes)});
  return static_cast<int>(std::min<int64_t>(seats, kMostSeats));
}

Gang InSeats(const Gang& gang, const JobEntry& job, const GangShape& head) {
  const HostAmount per_rank = GangRequestOf(job.job.spec()).host;
  Gang seats = gang;
  for (NodeSlots& node : seats) {
    const int slots = static_cast<int>(node.slots.size());
    node.slots.resize(static_cast<std::size_t>(SeatsTaken(slots, per_rank, head)), -1);
  }
  return seats;
}

}  // namespace trainyard::controller
