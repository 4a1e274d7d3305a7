// The worker daemon: one loop thread that owns all state, and the parts around it.
#ifndef TRAINYARD_WORKER_WORKER_H_
#define TRAINYARD_WORKER_WORKER_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace trainyard::worker {

struct WorkerOptions {
  // HOST:PORT of the controller.
  std::string controller;
  // Of the controller's token; empty: found as the command line finds it.
  std::string token_file;
  std::string data_dir;
  // Empty: DATA_DIR/secrets.
  std::string secrets_dir;
  // Empty: the host's name.
  std::string node_name;
  // Empty: the address of the route to the controller.
  std::string address;
  // Not given: the number of cores when there is no GPU, else 0.
  std::optional<int> cpu_slots;
  // IP:PORT of GET /metrics; port 0 picks a free one, "off" serves none.
  std::string metrics_listen = "127.0.0.1:7072";
  // The metrics page may be reached from other machines, unencrypted and without a token.
  bool insecure = false;
  // Measures GPUs; to be switched off where dcgm-exporter measures them.
  bool gpu_metrics = true;
  // Disk space that output and telemetry of the ranks may take.
  int64_t spool_bytes_max = int64_t{1} << 30;
  // Free space of the disk of the data directory below which the node takes no new rank. Not given:
  // DiskWatch::kDefaultFloor, at most a fortieth of the disk.
  std::optional<int64_t> free_space_floor;
  // SIGTERM and SIGINT stop the ranks first; otherwise the ranks train on while the worker is down.
  bool stop_ranks_on_exit = false;
};

class Worker {
 public:
  // Locks the data directory and finds the ranks that still run. Errors are for the user: cause and
  // next step in one line.
  static absl::StatusOr<std::unique_ptr<Worker>> Open(const WorkerOptions& options);
  ~Worker();

  // Serves until SIGTERM, SIGINT or SIGHUP. Call once.
  void Run();

 private:
  class Daemon;
  explicit Worker(std::unique_ptr<Daemon> daemon);
  std::unique_ptr<Daemon> daemon_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_WORKER_H_
