// Starts the program that runs an exec session.
#ifndef TRAINYARD_WORKER_EXEC_EXEC_PROCESS_H_
#define TRAINYARD_WORKER_EXEC_EXEC_PROCESS_H_

#include <sys/types.h>

#include <string>

#include "absl/status/statusor.h"
#include "proto/files/unique_fd.h"
#include "trainyard/v1/exec.pb.h"

namespace trainyard::worker {

struct ExecProcess {
  pid_t pid = 0;
  // The write end of the lifeline. A text that is written to it, or else its end, ends the session.
  UniqueFd lifeline;
};

// Executes `worker_program` with the argument kExecMode.
absl::StatusOr<ExecProcess> StartExecProcess(const std::string& worker_program,
                                             const v1::ExecLaunch& launch);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_EXEC_EXEC_PROCESS_H_
