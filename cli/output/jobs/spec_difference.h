// Compares the settings of two jobs.
#ifndef TRAINYARD_CLI_OUTPUT_JOBS_SPEC_DIFFERENCE_H_
#define TRAINYARD_CLI_OUTPUT_JOBS_SPEC_DIFFERENCE_H_

#include <string>

#include "cli/output/terminal/table.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::cli {

struct NamedSpec {
  std::string name;  // The column's title in lower case, such as "before".
  const v1::JobSpec& spec;
};

// One row for each setting that differs.
Listing SpecDifference(const NamedSpec& left, const NamedSpec& right);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_JOBS_SPEC_DIFFERENCE_H_
