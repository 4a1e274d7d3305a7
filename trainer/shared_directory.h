// Agreement of a gang's ranks on the directory of their checkpoints, before they train: ranks that
// see another directory at its path would never complete a checkpoint.
#ifndef TRAINYARD_TRAINER_SHARED_DIRECTORY_H_
#define TRAINYARD_TRAINER_SHARED_DIRECTORY_H_

#include <torch/types.h>

#include <string>

#include "trainer/checkpoint/fence.h"
#include "trainer/config/runtime_environment.h"
#include "trainer/parallel/communicator.h"

namespace trainyard::trainer {

// Rank 0 claims env.checkpoint_dir for the attempt, and every rank reads the claim's nonce there;
// all of them call it. Throws on all ranks when some do not see the claim: kBadConfig, or kTryAgain
// where the attempt goes on from what the gang once shared. The message names the ranks and hosts.
// Rank 0 throws as CheckOwnerHasEnded, when `checks_owner`, and RaiseFence do; the others lose a
// peer then.
ClaimedDirectory ClaimDirectory(Communicator& world, torch::Device device,
                                const RuntimeEnvironment& env, bool checks_owner);

// Every rank calls it. Throws on all ranks, as above, when only some see the checkpoint.
void CheckAllSeeCheckpoint(Communicator& world, torch::Device device, const RuntimeEnvironment& env,
                           const std::string& checkpoint);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_SHARED_DIRECTORY_H_
