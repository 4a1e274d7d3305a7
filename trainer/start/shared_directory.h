// Checks before training that all ranks see the same checkpoint directory. If the path led to
// different directories for different ranks, no checkpoint would ever be complete.
#ifndef TRAINYARD_TRAINER_START_SHARED_DIRECTORY_H_
#define TRAINYARD_TRAINER_START_SHARED_DIRECTORY_H_

#include <torch/types.h>

#include <string>

#include "trainer/checkpoint/fence.h"
#include "trainer/config/runtime_environment.h"
#include "trainer/parallel/communicator.h"

namespace trainyard::trainer {

// Collective over all ranks. Rank 0 claims env.checkpoint_dir for the attempt by writing a nonce,
// and every rank reads the nonce there. If some ranks do not see the nonce, all ranks throw:
// kTryAgain if the gang has shared the directory before, else kBadConfig. The message names the
// ranks and hosts. Rank 0 also throws the errors of RaiseFence and, if `checks_owner`, of
// CheckOwnerHasEnded; the other ranks then throw kPeerLost.
ClaimedDirectory ClaimDirectory(Communicator& world, torch::Device device,
                                const RuntimeEnvironment& env, bool checks_owner);

// Collective over all ranks. If some ranks see the checkpoint and others do not, all ranks throw,
// with the codes of ClaimDirectory.
void CheckAllSeeCheckpoint(Communicator& world, torch::Device device, const RuntimeEnvironment& env,
                           const std::string& checkpoint);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_START_SHARED_DIRECTORY_H_
