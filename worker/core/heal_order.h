// The text of a rank's order file. A rank that has lost a peer reads this file to continue without
// a restart.
#ifndef TRAINYARD_WORKER_CORE_HEAL_ORDER_H_
#define TRAINYARD_WORKER_CORE_HEAL_ORDER_H_

#include <string>

#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::worker {

// Returns one JSON object followed by a line break; worker/README.md describes the format. The
// command must contain an order for the rank.
std::string OrderText(const v1::HealAttempt& command, int rank);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_HEAL_ORDER_H_
