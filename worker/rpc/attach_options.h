// Options of the connection to the controller.
#ifndef TRAINYARD_WORKER_RPC_ATTACH_OPTIONS_H_
#define TRAINYARD_WORKER_RPC_ATTACH_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::worker {

struct AttachOptions {
  // All controllers of the cluster, HOST:PORT each. The worker attaches to the one that leads.
  std::vector<std::string> controllers;
  // The path of the token file. If empty, the worker searches the same places as the command line.
  std::string token_file;
  // The wait before the next dial. The wait doubles from the minimum to the maximum, with jitter. A
  // Welcome resets the wait to the minimum.
  int64_t backoff_ms_min = 200;
  int64_t backoff_ms_max = 5000;
  // If the controller does not answer for keepalive_ms + keepalive_timeout_ms, the controller
  // counts as disconnected.
  int64_t keepalive_ms = 5000;
  int64_t keepalive_timeout_ms = 4000;
  // The time limit from dialing to Welcome. Each dial that exceeds the limit doubles the limit, up
  // to the maximum. With a fixed limit, a newly started controller would be kept busy by thousands
  // of workers that abandon and repeat their dials.
  int64_t welcome_timeout_ms = 10000;
  int64_t welcome_timeout_ms_max = 60000;
};

// Shortens the limits if there are several controllers, so that a worker reaches a new leader soon.
// An unresponsive controller then delays the worker by at most the time limit of a dial.
AttachOptions ForSeveral(AttachOptions options);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_RPC_ATTACH_OPTIONS_H_
