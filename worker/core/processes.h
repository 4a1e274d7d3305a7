// Processes of a start command. Pure.
#ifndef TRAINYARD_WORKER_CORE_PROCESSES_H_
#define TRAINYARD_WORKER_CORE_PROCESSES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::worker {

// The command with `processes` set. Commands of earlier releases, from a controller or from disk,
// have only `ranks`: each rank is a process on one slot.
v1::StartAttempt WithProcesses(v1::StartAttempt command);

// Ranks of all processes, in the order of the command.
std::vector<int> RanksOf(const v1::StartAttempt& command);

// The contradiction in a command. It is a bug of the controller, and the command must not reach the
// process table. Empty if the command is sound.
std::string Contradiction(const v1::StartAttempt& command);

// INVALID_ARGUMENT if the command has a process that this worker cannot start. It starts processes
// of one rank on one slot.
absl::Status CheckShapes(const v1::StartAttempt& command);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_PROCESSES_H_
