// Formats the health of a job for tables, `describe` and `why`.
#ifndef TRAINYARD_CLI_OUTPUT_HEALTH_VIEW_H_
#define TRAINYARD_CLI_OUTPUT_HEALTH_VIEW_H_

#include <string>
#include <vector>

#include "proto/support/clock.h"
#include "trainyard/v1/health.pb.h"

namespace trainyard::cli {

// Returns the word, such as "stalled". Returns kNothing (readable.h) if the job has no health.
std::string HealthText(const v1::JobHealth& health);

// Returns a line for each finding, worst first, such as "stalled for 4m12s: rank 3 has not ...
// (node-6)". Empty if the job has no findings.
std::vector<std::string> HealthLines(const v1::JobHealth& health, Timestamp now);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_HEALTH_VIEW_H_
