// Settings of the worker daemon.
#ifndef TRAINYARD_WORKER_WORKER_OPTIONS_H_
#define TRAINYARD_WORKER_WORKER_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "worker/core/rank_limits.h"

namespace trainyard::worker {

struct WorkerOptions {
  // HOST:PORT of the controller.
  std::string controller;
  // The controller's token file. If empty, it is searched in the same places as by the command
  // line.
  std::string token_file;
  std::string data_dir;
  // Empty: DATA_DIR/secrets.
  std::string secrets_dir;
  // Empty: the host's name.
  std::string node_name;
  // Empty: the address of the route to the controller.
  std::string address;
  // Unset: the number of cores if there is no GPU, else 0.
  std::optional<int> cpu_slots;
  // IP:PORT of GET /metrics; port 0 picks a free one, "off" serves none.
  std::string metrics_listen = "127.0.0.1:7072";
  // Lets other machines reach the metrics page, unencrypted and without a token.
  bool insecure = false;
  // Measures GPUs; turn it off if dcgm-exporter measures them.
  bool gpu_metrics = true;
  // Limit on the disk space for output and telemetry of the ranks.
  int64_t spool_bytes_max = int64_t{1} << 30;
  // Free space on the disk of the data directory below which the node takes no new ranks. Unset:
  // DiskWatch::kDefaultFloor, at most a fortieth of the disk.
  std::optional<int64_t> free_space_floor;
  RankLimits limits;
  // If true, the worker stops its ranks on SIGTERM or SIGINT before it exits. If false, ranks keep
  // training while the worker is down.
  bool stop_ranks_on_exit = false;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_WORKER_OPTIONS_H_
