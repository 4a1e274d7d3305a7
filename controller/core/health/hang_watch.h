// The watchdog. It detects gangs that make no progress for longer than the limit of their state
// (gang_limit.h).
//
// A worker measures the time since a rank's last step with the worker's own clock (RankReport).
// Therefore late telemetry, a changed clock or a network failure cannot make a stalled rank look
// alive, or a healthy rank look stalled.
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
  // The newest step of the gang.
  int64_t step = 0;
  // The ranks that block the gang, in ascending order. Contains every rank if the blocking ranks
  // are unknown.
  std::vector<int> ranks;
  // True if `ranks` exited with 0 before the step for which the other ranks wait. In this case no
  // node is to blame.
  bool left_early = false;
  // The evidence for the stall, as one line.
  std::string evidence;
};

// Returns the gang's stall. Returns nullopt if the gang makes progress, if its state has no limit,
// or if reports of one of its nodes do not arrive steadily. Considers starting and running attempts
// only.
std::optional<Hang> FindHang(const ClusterState& state, const Observations& observations,
                             const CoreOptions& options, const JobEntry& entry, Timestamp now);

// The verdict on a stalled attempt.
v1::Verdict HungVerdict(const v1::Attempt& attempt, const Hang& hang, Timestamp now);

// Returns the alert that is raised instead of a restart if watchdog.action is alert. Returns
// nullopt if the alert was already raised for this step.
std::optional<v1::AlertRaised> HangAlert(const JobEntry& entry, const Hang& hang);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_HANG_WATCH_H_
