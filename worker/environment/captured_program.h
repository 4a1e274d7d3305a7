// Runs a helper program and captures its output.
#ifndef TRAINYARD_WORKER_ENVIRONMENT_CAPTURED_PROGRAM_H_
#define TRAINYARD_WORKER_ENVIRONMENT_CAPTURED_PROGRAM_H_

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace trainyard::worker {

using Variables = std::map<std::string, std::string>;

// Returns the variables of this process.
Variables OwnVariables();

// Returns the variables as NAME=VALUE.
std::vector<std::string> VariableTexts(const Variables& variables);

struct CapturedOutput {
  int exit_code = 0;  // 128 + N if signal N ended the program.
  std::string text;   // Standard output.
};

enum class ErrorOutput { kInherited, kDiscarded };

// Runs the program until it closes its output. `errors` states where its stderr goes. NOT_FOUND:
// the program does not exist. DEADLINE_EXCEEDED: the program was killed after `limit`.
// RESOURCE_EXHAUSTED: it was killed because it printed more than max_bytes.
absl::StatusOr<CapturedOutput> Capture(const std::vector<std::string>& command,
                                       const Variables& variables, std::chrono::milliseconds limit,
                                       std::size_t max_bytes,
                                       ErrorOutput errors = ErrorOutput::kInherited);

// Converts a status of waitpid to an exit code, like a shell.
int ExitCodeOfStatus(int status);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_ENVIRONMENT_CAPTURED_PROGRAM_H_
