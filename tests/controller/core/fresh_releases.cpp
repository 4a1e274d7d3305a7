#include "tests/controller/core/fresh_releases.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/observations/expected_end.h"
#include "controller/core/schedule/expected_ends.h"
#include "controller/core/schedule/head_promise.h"
#include "controller/core/schedule/placement.h"
#include "controller/core/state/attempts/time_limit.h"
#include "controller/core/state/jobs/job_timing.h"
#include "proto/support/job_kind.h"

namespace trainyard::controller {
namespace {

// Returns the expected end of the job's live attempt as expected_end.h and expected_ends.h define
// it, from the job and the newest metrics.
Timestamp FreshEnd(const JobEntry& entry, const Observations& observations, Timestamp now) {
  const v1::Attempt& live = *LiveAttempt(entry);
  if (live.stopping_time_ms() != 0) {
    return std::max(now + 1, live.stopping_time_ms() + StopGraceMs(entry));
  }
  Timestamp end = kNever;
  if (const std::optional<int64_t> rest_ms = RemainingTime(entry.job, now)) end = now + *rest_ms;
  const AttemptObservation* observed =
      ObservedAttempt(observations, {entry.job.id(), live.number()});
  const auto progress = observations.progress.find(entry.job.id());
  if (observed != nullptr && progress != observations.progress.end()) {
    const Timestamp steps = EndOfSteps(entry.job, live, *observed, progress->second);
    // A program without equal steps predicts its end itself, and its worker may forget it.
    const bool counts = ProgramRulesOf(entry.job.spec()).has_equal_steps;
    const Timestamp known = counts ? steps : observed->steps_end_ms;
    if (known != 0) end = std::min(end, known);
  }
  return std::max(now + 1, end == kNever ? live.placed_time_ms() + kUnknownRunMs : end);
}

// Returns the release times of the node's slots of this kind, in ascending order.
std::vector<Timestamp> FreshTimes(const ClusterState& state, const NodeEntry& entry,
                                  v1::DeviceKind kind, const Observations& observations,
                                  Timestamp now) {
  std::vector<Timestamp> times;
  Timestamp opens = now;
  if (!TakesRanks(entry.node)) opens = entry.node.cordoned() ? kNever : now + kUnknownRunMs;
  for (int i = 0; i < entry.node.slot_uses_size(); ++i) {
    if (entry.node.inventory().slots(i).kind() != kind) continue;
    const AttemptKey holder = HolderOf(entry.node.slot_uses(i));
    Timestamp end = now;
    if (holder.job_id != 0) {
      const JobEntry* job = FindEntry(state, holder.job_id);
      const bool is_live = job != nullptr && LiveAttempt(*job) != nullptr;
      end = is_live ? FreshEnd(*job, observations, now) : kNever;
      if (entry.uncleared.contains(holder)) end = now + kUnknownRunMs;
    }
    times.push_back(std::max(opens, end));
  }
  std::ranges::sort(times);
  return times;
}

}  // namespace

std::string DifferentReleases(const ClusterState& state, const Observations& observations,
                              Timestamp now) {
  const ExpectedEnds ends = ExpectedEndsOf(state, observations, now);
  for (const auto& [id, entry] : state.jobs) {
    const Timestamp fresh =
        LiveAttempt(entry) == nullptr ? kNever : FreshEnd(entry, observations, now);
    if (ends(id) == fresh) continue;
    return absl::StrCat("job ", id, " is expected to end at ", ends(id), " instead of ", fresh);
  }
  const PlacementPass pass(state, {});
  for (const v1::DeviceKind kind : kDeviceKinds) {
    const Releases releases = ReleasesOf(state, pass, kind, ends, now);
    std::size_t nodes = 0;
    for (const auto& [id, entry] : state.nodes) {
      if (entry.node.state() == v1::NODE_STATE_LOST) continue;
      ++nodes;
      const ReleaseTimes* times = releases.Find(id);
      if (times == nullptr) return absl::StrCat("node ", id, " has no release times");
      std::vector<Timestamp> sorted(times->begin(), times->end());
      std::ranges::sort(sorted);
      if (sorted == FreshTimes(state, entry, kind, observations, now)) continue;
      return absl::StrCat("node ", id, " has other release times");
    }
    if (nodes != releases.size()) return "a node that is lost or gone has release times";
  }
  return "";
}

}  // namespace trainyard::controller
