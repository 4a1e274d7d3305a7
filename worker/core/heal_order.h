// Text of a rank's order file, from which the rank continues in place after losing a peer.
#ifndef TRAINYARD_WORKER_CORE_HEAL_ORDER_H_
#define TRAINYARD_WORKER_CORE_HEAL_ORDER_H_

#include <string>

#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::worker {

// One JSON object followed by a line break; worker/README.md describes the format. The command must
// contain an order for the rank.
std::string OrderText(const v1::HealAttempt& command, int rank);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_HEAL_ORDER_H_
