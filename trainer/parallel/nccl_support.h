// Helpers of the NCCL backend: errors, types, and the id of a group.
#ifndef TRAINYARD_TRAINER_PARALLEL_NCCL_SUPPORT_H_
#define TRAINYARD_TRAINER_PARALLEL_NCCL_SUPPORT_H_

#include <nccl.h>
#include <torch/types.h>

#include <chrono>
#include <string>

#include "trainer/parallel/communicator.h"
#include "trainer/parallel/rendezvous.h"

namespace trainyard::trainer {

// Returns a text such as "600 s".
std::string SecondsText(std::chrono::seconds time);

// Returns the text of an error, such as "unhandled system error: Connection closed by remote peer".
std::string NcclText(ncclResult_t result);
// Throws TrainerError(kInternal) if `result` is an error of `operation`.
void CheckNccl(const char* operation, ncclResult_t result);
// True for errors caused by this rank's own calls or device, not by a peer.
bool IsOwnFault(ncclResult_t result);

ncclRedOp_t NcclOp(ReduceOp op);
// Returns the NCCL type for arithmetic on the tensor. Operations without arithmetic do not use this
// type, because they send every tensor as bytes.
ncclDataType_t NcclType(const torch::Tensor& tensor);

// Creates the group's id on the first member and passes it to the others through the store.
// Enforces a time limit, because the store has no limit of its own if the process that serves it is
// suspended.
ncclUniqueId ShareUniqueId(const Rendezvous& rendezvous, const CommunicatorGroup& group);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_NCCL_SUPPORT_H_
