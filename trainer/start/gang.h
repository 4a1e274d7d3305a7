// Startup steps common to every rank of a gang.
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

// Sets the number of CPU threads from the settings, else from the node's cores, and returns it. The
// number decides how sums are split and thus their last bits, so it does not depend on the
// machine's load.
int64_t SetThreads(const RunConfig& config, const RuntimeEnvironment& env);

// Connects to the other ranks and checks that all were started alike. Returns null for a single
// rank. `interruption` ends this and all later waits for peers; may be null. Throws what Rendezvous
// and CheckRanksAgree throw.
std::unique_ptr<Rendezvous> Meet(const RunConfig& config, const RuntimeEnvironment& env,
                                 Interruption* interruption = nullptr);

// Connects this rank to the members of its groups and checks the device and the groups
// (start_check.h).
RankGroups ConnectGroups(const RunConfig& config, const Mesh& mesh, const RuntimeEnvironment& env,
                         Rendezvous* rendezvous, torch::Device device);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_START_GANG_H_
