#include "controller/core/schedule/host_releases.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <string_view>
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

// An amount of a node, and the time at which it is released.
struct HostRelease {
  Timestamp time = 0;
  HostAmount host;
  friend auto operator<=>(const HostRelease&, const HostRelease&) = default;
};

// The amounts of each node that started gangs hold.
using StartedReleases = std::map<std::string_view, std::vector<HostRelease>>;

std::vector<HostRelease> HostReleasesOf(const NodeEntry& node, const ExpectedEnds& expected_ends,
                                        Timestamp now) {
  std::vector<HostRelease> released;
  for (const SlotHolder& holder : node.holders) {
    if (holder.host.IsZero()) continue;
    const Timestamp end = holder.is_uncleared ? now + kUnknownRunMs
                                              : std::max(now, expected_ends(holder.attempt.job_id));
    released.push_back({end, holder.host});
  }
  return released;
}

// Replaces the release times of the node's slots by those of its seats. `free`: free of the node
// before the first release.
void LimitToHost(HostAmount free, std::vector<HostRelease> released, const HostAmount& per_rank,
                 Timestamp now, ReleaseTimes& times) {
  std::ranges::sort(released);
  std::ranges::sort(times);
  auto next = released.begin();
  Timestamp at = now;
  int64_t seats = 0;
  for (Timestamp& time : times) {
    ++seats;
    while (CountRanks(free, per_rank) < seats && next != released.end()) {
      free = free + next->host;
      at = next->time;
      ++next;
    }
    time = CountRanks(free, per_rank) < seats ? kNever : std::max(time, at);
  }
}

// Takes the slots of a started gang, and adds what its ranks request.
void Occupy(const StartedGang& started, v1::DeviceKind kind, Timestamp now, Releases& releases,
            StartedReleases& hosts) {
  const JobClass job_class = ClassOf(started.job.job);
  const Timestamp end = std::min(LatestEnd(job_class, now), now + kUnknownRunMs);
  for (const NodeSlots& node : started.gang) {
    const int slots = static_cast<int>(node.slots.size());
    ReleaseTimes* times = job_class.kind == kind ? releases.Find(node.node_id) : nullptr;
    if (times != nullptr) OccupySlots(slots, end, *times);
    if (job_class.host_per_rank.IsZero()) continue;
    hosts[node.node_id].push_back({end, job_class.host_per_rank * slots});
  }
}

}  // namespace

Releases ReleasesForHead(const ClusterState& state, const PlacementPass& pass, const JobEntry& head,
                         const ExpectedEnds& expected_ends, Timestamp now,
                         const std::vector<StartedGang>& started) {
  const GangShape shape = GangRequestOf(head.job.spec()).Least();
  const auto ends = [&](int64_t job_id) {
    return job_id == head.job.id() ? now : expected_ends(job_id);
  };
  Releases releases = ReleasesOf(state, pass, shape.kind, ends, now);
  StartedReleases hosts;
  for (const StartedGang& gang : started) Occupy(gang, shape.kind, now, releases, hosts);
  const bool has_reservations = !pass.reserved().empty();
  if (shape.host.IsZero() && !has_reservations) return releases;
  const JobClass job_class = ClassOf(head.job);
  for (const auto& [id, entry] : state.nodes) {
    ReleaseTimes* found = releases.Find(id);
    if (found == nullptr) continue;
    if (!shape.host.IsZero()) {
      HostAmount free = entry.free_host;
      std::vector<HostRelease> released = HostReleasesOf(entry, ends, now);
      if (const auto taken = hosts.find(id); taken != hosts.end()) {
        for (const HostRelease& of_gang : taken->second) {
          free = free - of_gang.host;
          released.push_back(of_gang);
        }
      }
      LimitToHost(free, std::move(released), shape.host, now, *found);
    }
    if (!has_reservations) continue;
    for (Timestamp& time : *found) {
      if (time != kNever) time = pass.reserved().StartOn(id, job_class, time);
    }
  }
  return releases;
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
