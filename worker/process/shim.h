// The process between a worker and one rank. Thanks to the shim, the worker can be killed, upgraded
// and restarted while training continues.
#ifndef TRAINYARD_WORKER_PROCESS_SHIM_H_
#define TRAINYARD_WORKER_PROCESS_SHIM_H_

namespace trainyard::worker {

// Runs `trainyard-worker shim --dir RANK_DIR`; argv[0] is "shim". Call it first in main, before
// threads, gRPC or logging exist, so that the shim stays small and forks safely. Leaves the
// worker's session, starts the command in RANK_DIR/start.json, waits for it, kills the processes
// that it left, and records its exit in RANK_DIR/exit.json. Ignores SIGTERM, SIGINT and SIGHUP, so
// only SIGKILL can end the shim before its rank.
// Returns the exit status for main: 2 for a bad command line, 1 on failure, otherwise 0.
int RunShim(int argc, char** argv);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_SHIM_H_
