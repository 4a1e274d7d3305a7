// The watchdog: gangs that train and make no step.
//
// A rank's worker reports how long the rank has made no step, by a clock of its own (RankReport).
// So neither the order in which stored telemetry arrives, nor a clock that is set, nor a network
// that is away makes a rank look alive or hung.
#ifndef TRAINYARD_CONTROLLER_CORE_HANG_WATCH_H_
#define TRAINYARD_CONTROLLER_CORE_HANG_WATCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/core/decide.h"
#include "controller/core/observations.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Least limit of a phase other than training whose earlier length is known.
inline constexpr int64_t kShortestPhaseLimitMs = 120'000;

struct Hang {
  // Newest step of the gang.
  int64_t step = 0;
  // Ranks that keep the gang waiting, ascending; every rank when none can be told from the others.
  std::vector<int> ranks;
  // The evidence, as one line.
  std::string evidence;
};

// Nothing while the gang makes progress, or may: a rank is in a phase without a known limit, its
// node's reports do not come steadily, or the gang finishes. Looks at running attempts only.
std::optional<Hang> FindHang(const ClusterState& state, const Observations& observations,
                             const CoreOptions& options, const JobEntry& entry, Timestamp now);

// The verdict on a hung attempt.
v1::Verdict HungVerdict(const v1::Attempt& attempt, const Hang& hang, Timestamp now);

// The alert of a watchdog that leaves the gang alone; nothing when it was raised for this step.
std::optional<v1::AlertRaised> HangAlert(const JobEntry& entry, const Hang& hang);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HANG_WATCH_H_
