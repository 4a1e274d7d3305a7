// The worker daemon. One loop thread owns all state; the other parts are connected to it.
#ifndef TRAINYARD_WORKER_WORKER_H_
#define TRAINYARD_WORKER_WORKER_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/worker_options.h"

namespace trainyard::worker {

class Worker {
 public:
  // Locks the data directory and finds the ranks that are still running. Errors are one line for
  // the user, with the cause and the next step.
  static absl::StatusOr<std::unique_ptr<Worker>> Open(const WorkerOptions& options);
  ~Worker();

  // Runs until SIGTERM, SIGINT or SIGHUP. Call once.
  void Run();

 private:
  class Daemon;
  explicit Worker(std::unique_ptr<Daemon> daemon);
  std::unique_ptr<Daemon> daemon_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_WORKER_H_
