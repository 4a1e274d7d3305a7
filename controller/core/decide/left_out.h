// Telemetry records left out of the event log because their job used up its budget of events
// (controller/kernel/durable_records.h).
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_LEFT_OUT_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_LEFT_OUT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "controller/core/observations/observations.h"
#include "controller/core/requests/requests.h"
#include "controller/core/state/cluster_state.h"
#include "controller/planner/finding.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Code of the alert about left-out records.
inline constexpr char kRecordsLeftOut[] = "records_left_out";

// Limits on the events of each kind (checkpoints, alerts) that a job may cause with its telemetry:
// the sustained rate per minute, and the burst after a quiet time. A gang that raises an alert on
// each of a thousand ranks stays below the limits, and so does a trainer that reports every
// checkpoint kept in the state.
inline constexpr int64_t kJobEventsPerMinute = 60;
inline constexpr int64_t kJobEventsAtOnce = 1000;

// The alert that reports the number of left-out records; empty for an unknown job.
std::vector<v1::Event> DecideLeftOut(const ClusterState& state, const ReportLeftOut& report,
                                     Timestamp now);

// Advice for a job with records left out in the last five minutes.
std::optional<planner::Finding> LeftOutFinding(const Observations& observations, int64_t job_id,
                                               Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_LEFT_OUT_H_
