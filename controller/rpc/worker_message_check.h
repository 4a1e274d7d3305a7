// Checks the form and the size of messages from workers, but not their meaning.
#ifndef TRAINYARD_CONTROLLER_RPC_WORKER_MESSAGE_CHECK_H_
#define TRAINYARD_CONTROLLER_RPC_WORKER_MESSAGE_CHECK_H_

#include "absl/status/status.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// FAILED_PRECONDITION: the worker uses another protocol version. INVALID_ARGUMENT: an id is missing
// or too long.
absl::Status CheckHello(const v1::Hello& hello);

// INVALID_ARGUMENT: the message is empty, is a second Hello, or has a stream, offset or rank that
// is out of bounds.
absl::Status CheckLaterMessage(const v1::WorkerMessage& message);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_WORKER_MESSAGE_CHECK_H_
