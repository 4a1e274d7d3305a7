// Checks of this machine for `trainyard doctor`: space, limits, permissions, ports, GPUs.
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
  // Checkpoints of jobs without checkpoint.dir; empty if not known yet.
  std::string checkpoint_root;
  v1::Inventory inventory;
};

// Runs all checks. May wait for a file server that does not answer.
std::vector<v1::NodeCheck> CheckNode(const CheckedPlaces& places);

// Runs the checks periodically on a separate thread, so that a hung file server does not delay the
// exit of the process. Used by one thread.
class NodeChecks {
 public:
  // Results that are new since the last call; empty if there are none. Begins the next round when
  // it is due.
  std::vector<v1::NodeCheck> Take(const CheckedPlaces& places,
                                  std::chrono::steady_clock::time_point now);
  // The controller of a new stream has no results yet: the next Take begins a round.
  void Restart() { due_ = {}; }

 private:
  BackgroundLook<std::vector<v1::NodeCheck>> round_;
  std::chrono::steady_clock::time_point due_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_NODE_CHECKS_H_
