// Steps of the startup that every rank of a gang performs.
#ifndef TRAINYARD_TRAINER_START_GANG_H_
#define TRAINYARD_TRAINER_START_GANG_H_

#include <torch/types.h>

#include <cstdint>
#include <memory>

#include "proto/contract/run_config.h"
#include "trainer/config/runtime_environment.h"
#include "trainer/parallel/mesh.h"
#include "trainer/parallel/rank_groups.h"
#include "trainer/parallel/rendezvous.h"

namespace trainyard::trainer {

// Sets the number of CPU threads and returns it. The number comes from the settings or, if unset,
// from the number of the node's cores. The number must not depend on the load of the machine,
// because it determines how sums are split, and therefore their last bits.
int64_t SetThreads(const RunConfig& config, const RuntimeEnvironment& env);

// Connects to the other ranks and checks that all were started alike (CheckRanksAgree). Returns
// null if there is only one rank. `interruption` ends this and all later waits for peers; it may be
// null. Throws the errors of Rendezvous and CheckRanksAgree.
std::unique_ptr<Rendezvous> Meet(const RunConfig& config, const RuntimeEnvironment& env,
                                 Interruption* interruption = nullptr);

// Connects this rank's groups. Then checks the device and the groups (start_check.h).
RankGroups ConnectGroups(const RunConfig& config, const Mesh& mesh, const RuntimeEnvironment& env,
                         Rendezvous* rendezvous, torch::Device device);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_START_GANG_H_
