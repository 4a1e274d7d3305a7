// Checks this machine for `trainyard doctor`: space, limits, permissions, ports and GPUs.
#ifndef TRAINYARD_WORKER_NODE_CHECKS_H_
#define TRAINYARD_WORKER_NODE_CHECKS_H_

#include <chrono>
#include <string>
#include <vector>

#include "trainyard/v1/node.pb.h"
#include "worker/background_look.h"

namespace trainyard::worker {

struct CheckedPlaces {
  std::string data_dir;
  std::string secrets_dir;
  // The directory for checkpoints of jobs without checkpoint.dir; empty while unknown.
  std::string checkpoint_root;
  v1::Inventory inventory;
};

// Runs all checks. May hang if a file server does not answer.
std::vector<v1::NodeCheck> CheckNode(const CheckedPlaces& places);

// Runs the checks periodically on a separate thread, so that a hung file server does not delay the
// exit of the process. Used by one thread.
class NodeChecks {
 public:
  // Returns the results that are new since the last call; empty if there are none. Starts the next
  // round of checks if the round is due.
  std::vector<v1::NodeCheck> Take(const CheckedPlaces& places,
                                  std::chrono::steady_clock::time_point now);
  // Call when a new stream is open. The controller of this stream has no results yet, so the next
  // Take starts a round.
  void Restart() { due_ = {}; }

 private:
  BackgroundLook<std::vector<v1::NodeCheck>> round_;
  std::chrono::steady_clock::time_point due_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_NODE_CHECKS_H_
