// Telemetry records that are not added to the event log, because their job has used up its budget
// of events (controller/kernel/durable_records.h).
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

// The code of the alert that reports left-out records.
inline constexpr char kRecordsLeftOut[] = "records_left_out";

// Limits on the events of each kind (checkpoints, alerts) that the telemetry of one job may cause:
// the sustained rate per minute, and the burst after a period without events. A gang of a thousand
// ranks that each raise an alert stays below the limits. So does a trainer that reports every
// checkpoint kept in the state.
inline constexpr int64_t kJobEventsPerMinute = 60;
inline constexpr int64_t kJobEventsAtOnce = 1000;

// Returns the alert with the number of left-out records. Empty for an unknown job.
std::vector<v1::Event> DecideLeftOut(const ClusterState& state, const ReportLeftOut& report,
                                     Timestamp now);

// Returns advice if records of the job were left out in the last five minutes.
std::optional<planner::Finding> LeftOutFinding(const Observations& observations, int64_t job_id,
                                               Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_LEFT_OUT_H_
