// The process that stands between a worker and one rank, so that a worker can be killed, upgraded
// and started again while training goes on.
#ifndef TRAINYARD_WORKER_PROCESS_SHIM_H_
#define TRAINYARD_WORKER_PROCESS_SHIM_H_

namespace trainyard::worker {

// `trainyard-worker shim --dir RANK_DIR`: argv[0] is "shim". Call it first in main, before threads,
// gRPC or logging exist: the shim stays small and forks safely. Leaves the worker's session, starts
// the command of RANK_DIR/start.json, waits for it, kills the processes that it left, and records
// its end in RANK_DIR/exit.json. Ignores SIGTERM, SIGINT and SIGHUP: only SIGKILL ends the shim
// before its rank.
// Returns the exit status for main: 2 for a bad command line, 1 when it cannot take over, else 0.
int RunShim(int argc, char** argv);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_SHIM_H_
