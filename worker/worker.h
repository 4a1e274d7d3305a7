// The worker daemon: one loop thread that owns all state, and the parts around it.
#ifndef TRAINYARD_WORKER_WORKER_H_
#define TRAINYARD_WORKER_WORKER_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/worker_options.h"

namespace trainyard::worker {

class Worker {
 public:
  // Locks the data directory and finds the ranks still running. Errors are for the user: cause and
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
