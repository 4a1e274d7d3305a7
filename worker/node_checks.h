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
  // Checkpoints of jobs without checkpoint.dir; empty: not known yet.
  std::string checkpoint_root;
  v1::Inventory inventory;
};

// All checks. May wait for a file server that does not answer.
std::vector<v1::NodeCheck> CheckNode(const CheckedPlaces& places);

// Runs the checks now and then on a thread of its own, which no hung file server keeps from ending
// with the process. For one thread.
class NodeChecks {
 public:
  // New results since the last call, and begins the next round when it is due; empty when there are
  // none.
  std::vector<v1::NodeCheck> Take(const CheckedPlaces& places,
                                  std::chrono::steady_clock::time_point now);
  // The controller of a new stream has none yet: the next round begins at the next Take.
  void Restart() { due_ = {}; }

 private:
  BackgroundLook<std::vector<v1::NodeCheck>> round_;
  std::chrono::steady_clock::time_point due_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_NODE_CHECKS_H_
