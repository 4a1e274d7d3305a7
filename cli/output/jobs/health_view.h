// Formats the health of a job, and the advice about its health.
#ifndef TRAINYARD_CLI_OUTPUT_JOBS_HEALTH_VIEW_H_
#define TRAINYARD_CLI_OUTPUT_JOBS_HEALTH_VIEW_H_

#include <string>
#include <vector>

#include "proto/support/clock.h"
#include "trainyard/v1/health.pb.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::cli {

// Returns the word, such as "stalled". Returns kNothing (readable.h) if the job has no health.
std::string HealthText(const v1::JobHealth& health);

// Returns a line for each finding, worst first, such as "stalled for 4m12s: rank 3 has not ...
// (node-6)". Empty if the job has no findings.
std::vector<std::string> HealthLines(const v1::JobHealth& health, Timestamp now);

// Returns the finding with its evidence and the change to make, as two lines.
std::string FindingText(const v1::RunFinding& finding);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_JOBS_HEALTH_VIEW_H_
