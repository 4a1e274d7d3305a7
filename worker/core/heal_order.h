// The text of a rank's order file: how it goes on in place after the loss of a peer.
#ifndef TRAINYARD_WORKER_CORE_HEAL_ORDER_H_
#define TRAINYARD_WORKER_CORE_HEAL_ORDER_H_

#include <string>

#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::worker {

// One JSON object, as worker/README.md describes it, with a line break. The command must have an
// order for the rank.
std::string OrderText(const v1::HealAttempt& command, int rank);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_HEAL_ORDER_H_
