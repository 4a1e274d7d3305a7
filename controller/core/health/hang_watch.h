// The watchdog: gangs without progress for longer than the limit of their state (gang_limit.h).
//
// A rank's worker reports how long the rank has made no step, by a clock of its own (RankReport).
// So neither the order in which stored telemetry arrives, nor a clock that is set, nor a network
// that is away makes a rank look alive or hung.
#ifndef TRAINYARD_CONTROLLER_CORE_HEALTH_HANG_WATCH_H_
#define TRAINYARD_CONTROLLER_CORE_HEALTH_HANG_WATCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

struct Hang {
  // Newest step of the gang.
  int64_t step = 0;
  // Ranks that keep the gang waiting, ascending; every rank when none can be told from the others.
  std::vector<int> ranks;
  // `ranks` exited with 0 before the step for which the others wait: no node is to blame.
  bool left_early = false;
  // The evidence, as one line.
  std::string evidence;
};

// Nothing while the gang makes progress, its state has no limit, or the reports of one of its nodes
// do not arrive steadily. Looks at starting and running attempts.
std::optional<Hang> FindHang(const ClusterState& state, const Observations& observations,
                             const CoreOptions& options, const JobEntry& entry, Timestamp now);

// The verdict on a hung attempt.
v1::Verdict HungVerdict(const v1::Attempt& attempt, const Hang& hang, Timestamp now);

// The alert of a watchdog that leaves the gang alone; nothing when it was raised for this step.
std::optional<v1::AlertRaised> HangAlert(const JobEntry& entry, const Hang& hang);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_HANG_WATCH_H_
