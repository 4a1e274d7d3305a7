// Detects jobs that fail again and again.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_RESTART_LOOP_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_RESTART_LOOP_H_

#include <optional>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/health.pb.h"

namespace trainyard::controller {

// A job loops after this many consecutive attempts with one cause.
inline constexpr int kEqualFailures = 3;

// Returns the finding `looping` for a job that starts, runs or recovers, if
// - its newest kEqualFailures failed attempts within restart.window have the same cause, or
// - it has restarted at least kEqualFailures times within restart.window, and at most a tenth of
//   restart.max_restarts is left.
// The first rule ends as soon as the live attempt has run longer and further than each of these
// attempts.
std::optional<v1::HealthFinding> WhyLooping(const Observations& observations, const JobEntry& entry,
                                            Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_RESTART_LOOP_H_
