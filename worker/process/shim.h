// The process between a worker and one rank. It lets the worker be killed, upgraded and restarted
// while training continues.
#ifndef TRAINYARD_WORKER_PROCESS_SHIM_H_
#define TRAINYARD_WORKER_PROCESS_SHIM_H_

namespace trainyard::worker {

// `trainyard-worker shim --dir RANK_DIR`: argv[0] is "shim". Call it first in main, before threads,
// gRPC or logging exist: the shim stays small and forks safely. Leaves the worker's session, starts
// the command in RANK_DIR/start.json, waits for it, kills the processes it left, and records its
// exit in RANK_DIR/exit.json. Ignores SIGTERM, SIGINT and SIGHUP: only SIGKILL ends the shim before
// its rank.
// Returns the exit status for main: 2 for a bad command line, 1 on failure, else 0.
int RunShim(int argc, char** argv);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_SHIM_H_
