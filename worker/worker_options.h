// Settings of the worker daemon.
#ifndef TRAINYARD_WORKER_WORKER_OPTIONS_H_
#define TRAINYARD_WORKER_WORKER_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "worker/core/rank_limits.h"
#include "worker/rpc/attach_options.h"

namespace trainyard::worker {

struct WorkerOptions {
  // HOST:PORT of each controller of the cluster.
  std::vector<std::string> controllers;
  // The path of the controller's token file. If empty, the worker looks for the file in the same
  // places as the command line does (proto/access/token_file.h).
  std::string token_file;
  std::string data_dir;
  // If empty, DATA_DIR/secrets.
  std::string secrets_dir;
  // The name of the node. If empty, the name of the host.
  std::string node_name;
  // The address at which other nodes reach this node. If empty, the local address of the connection
  // to the controller.
  std::string address;
  // The labels of the node, each as NAME=VALUE (proto/text/node_label.h).
  std::vector<std::string> labels;
  // The number of CPU slots. If unset, the number of cores on a node without GPUs, otherwise 0.
  std::optional<int> cpu_slots;
  // IP:PORT of GET /metrics. Port 0 selects a free port; "off" disables the page.
  std::string metrics_listen = "127.0.0.1:7072";
  // If true, other machines may read the metrics page. The page is unencrypted and needs no token.
  bool insecure = false;
  // IP:PORT at which other nodes fetch the code of jobs. Port 0 selects a free port; "off" disables
  // sharing.
  std::string code_listen = "off";
  // If true, the worker measures its GPUs. Set to false if dcgm-exporter measures the GPUs.
  bool gpu_metrics = true;
  // Limit on the disk space for output and telemetry of the ranks.
  int64_t spool_bytes_max = int64_t{1} << 30;
  // The free disk space, in bytes, below which the node accepts no new ranks. Applies to the disk
  // of the data directory. If unset, DiskWatch::kDefaultFloor or 1/40 of the disk, whichever is
  // smaller.
  std::optional<int64_t> free_space_floor;
  RankLimits limits;
  // If true, the worker stops its ranks on SIGTERM or SIGINT before it exits. If false, ranks keep
  // training while the worker is down.
  bool stop_ranks_on_exit = false;
};

// The options of connections to the controller.
inline AttachOptions ControllerOf(const WorkerOptions& options) {
  return {.controllers = options.controllers, .token_file = options.token_file};
}

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_WORKER_OPTIONS_H_
