// References to jobs: "17", "llama3-8b", "llama3-8b@2" (its second attempt), "@last", "@last@2".
#ifndef TRAINYARD_CLI_CLIENT_JOB_REFERENCE_H_
#define TRAINYARD_CLI_CLIENT_JOB_REFERENCE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace trainyard::cli {

struct JobReference {
  // The part sent to the controller: a number, a name or "@last".
  std::string job;
  // Attempt number after the '@'; 0 if none.
  int64_t attempt = 0;
};

// Parses a reference. Returns INVALID_ARGUMENT, with a list of the valid forms, for any other text.
absl::StatusOr<JobReference> ParseJobReference(const std::string& text);

// Parses a reference for commands about a whole job. Returns INVALID_ARGUMENT if the reference has
// an attempt.
absl::StatusOr<std::string> ParseWholeJob(const std::string& text);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CLIENT_JOB_REFERENCE_H_
