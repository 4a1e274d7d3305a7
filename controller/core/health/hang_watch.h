// The watchdog: detects gangs without progress for longer than the limit of their state
// (gang_limit.h).
//
// A rank's worker measures the time since the rank's last step by the worker's own clock
// (RankReport). Therefore late telemetry, a changed clock or a network failure cannot make a rank
// look alive or hung.
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
  // Ranks that block the gang, ascending. Every rank if they cannot be determined.
  std::vector<int> ranks;
  // `ranks` exited with 0 before the step that the others wait for. No node is to blame.
  bool left_early = false;
  // Evidence, as one line.
  std::string evidence;
};

// The gang's hang. nullopt while the gang makes progress, its state has no limit, or reports of one
// of its nodes do not arrive steadily. Considers starting and running attempts.
std::optional<Hang> FindHang(const ClusterState& state, const Observations& observations,
                             const CoreOptions& options, const JobEntry& entry, Timestamp now);

// The verdict on a hung attempt.
v1::Verdict HungVerdict(const v1::Attempt& attempt, const Hang& hang, Timestamp now);

// Alert raised instead of a restart if watchdog.action is alert. nullopt if it was already raised
// for this step.
std::optional<v1::AlertRaised> HangAlert(const JobEntry& entry, const Hang& hang);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_HANG_WATCH_H_
