// Reads the environment variables that a script or configuration sets for the program.
#ifndef TRAINYARD_CLI_CONVERT_ENVIRONMENT_READER_H_
#define TRAINYARD_CLI_CONVERT_ENVIRONMENT_READER_H_

#include <string>

#include "cli/convert/job_draft.h"

namespace trainyard::cli {

struct EnvironmentValue {
  std::string name;
  std::string value;
  std::string open;  // The part of the value that is not in the script; else empty.
  int line = 0;
};

// Sets the variable in `env`, or lists it in `secrets` if it is a key or token. Leaves out
// variables that the worker sets, and values computed from Slurm's list of nodes.
void TakeEnvironment(const EnvironmentValue& variable, JobDraft& draft);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_ENVIRONMENT_READER_H_
