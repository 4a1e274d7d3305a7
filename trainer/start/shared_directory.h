// Checks before training that all ranks see the same checkpoint directory. Ranks with different
// directories at its path would never complete a checkpoint.
#ifndef TRAINYARD_TRAINER_START_SHARED_DIRECTORY_H_
#define TRAINYARD_TRAINER_START_SHARED_DIRECTORY_H_

#include <torch/types.h>

#include <string>

#include "trainer/checkpoint/fence.h"
#include "trainer/config/runtime_environment.h"
#include "trainer/parallel/communicator.h"

namespace trainyard::trainer {

// Rank 0 claims env.checkpoint_dir for the attempt, and every rank reads the claim's nonce there.
// All ranks must call it. If some ranks do not see the claim, all ranks throw: kTryAgain if the
// gang has shared the directory before, else kBadConfig. The message names the ranks and hosts.
// Rank 0 also throws the errors of RaiseFence and, if `checks_owner`, of CheckOwnerHasEnded. The
// other ranks then lose a peer.
ClaimedDirectory ClaimDirectory(Communicator& world, torch::Device device,
                                const RuntimeEnvironment& env, bool checks_owner);

// If only some ranks see the checkpoint, all ranks throw, with the codes of ClaimDirectory. All
// ranks must call it.
void CheckAllSeeCheckpoint(Communicator& world, torch::Device device, const RuntimeEnvironment& env,
                           const std::string& checkpoint);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_START_SHARED_DIRECTORY_H_
