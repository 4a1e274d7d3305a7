// The start that every rank of a gang makes, whatever it goes on to do.
#ifndef TRAINYARD_TRAINER_GANG_H_
#define TRAINYARD_TRAINER_GANG_H_

#include <torch/types.h>

#include <cstdint>
#include <memory>

#include "proto/contract/run_config.h"
#include "trainer/config/runtime_environment.h"
#include "trainer/parallel/mesh.h"
#include "trainer/parallel/rank_groups.h"
#include "trainer/parallel/rendezvous.h"

namespace trainyard::trainer {

// Sets the CPU threads of this process by the settings, or by the cores of the node, and returns
// their number. It decides how sums are split, and so their last bits: it does not depend on the
// machine's load.
int64_t SetThreads(const RunConfig& config, const RuntimeEnvironment& env);

// Waits for the other ranks and compares how they were started. Null for a single rank.
// interruption: ends this wait and all for peers; may be null. Throws what Rendezvous and
// CheckRanksAgree throw.
std::unique_ptr<Rendezvous> Meet(const RunConfig& config, const RuntimeEnvironment& env,
                                 Interruption* interruption = nullptr);

// Connects this rank with the members of its groups, and checks device and groups (start_check.h).
RankGroups ConnectGroups(const RunConfig& config, const Mesh& mesh, const RuntimeEnvironment& env,
                         Rendezvous* rendezvous, torch::Device device);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_GANG_H_
