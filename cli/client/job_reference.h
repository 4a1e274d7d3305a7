// References to jobs: "17", "llama3-8b", "llama3-8b@2" (its second attempt), "@last", "@last@2".
#ifndef TRAINYARD_CLI_CLIENT_JOB_REFERENCE_H_
#define TRAINYARD_CLI_CLIENT_JOB_REFERENCE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace trainyard::cli {

struct JobReference {
  // The part for the controller: a number, a name or "@last".
  std::string job;
  // The attempt number after the last '@'; 0 if none.
  int64_t attempt = 0;
};

// Returns INVALID_ARGUMENT, with a list of the valid forms, if `text` is not a reference.
absl::StatusOr<JobReference> ParseJobReference(const std::string& text);

// Parses a reference for a command about a whole job. Returns INVALID_ARGUMENT if the reference
// names an attempt.
absl::StatusOr<std::string> ParseWholeJob(const std::string& text);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CLIENT_JOB_REFERENCE_H_
