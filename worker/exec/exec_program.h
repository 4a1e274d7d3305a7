// The program `trainyard-worker exec`, which runs one exec session.
#ifndef TRAINYARD_WORKER_EXEC_EXEC_PROGRAM_H_
#define TRAINYARD_WORKER_EXEC_EXEC_PROGRAM_H_

namespace trainyard::worker {

// The first argument of the worker's program.
inline constexpr char kExecMode[] = "exec";
// The descriptor of a file with the serialized ExecLaunch. Standard input is the lifeline.
inline constexpr int kExecLaunchFd = 3;

// Runs the session. Returns the exit code of the process: 0 after a session, 1 if the controller
// could not be reached, 2 if the launch cannot be read. Call before the process starts a thread.
int RunExec();

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_EXEC_EXEC_PROGRAM_H_
