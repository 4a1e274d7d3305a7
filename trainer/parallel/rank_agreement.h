// Checks that all ranks of a gang were started with equal settings and library versions.
#ifndef TRAINYARD_TRAINER_PARALLEL_RANK_AGREEMENT_H_
#define TRAINYARD_TRAINER_PARALLEL_RANK_AGREEMENT_H_

#include <cstdint>
#include <map>
#include <string>

#include "trainer/parallel/rendezvous.h"

namespace trainyard::trainer {

// Settings and library versions by name. All values must be equal on all ranks.
using RankFacts = std::map<std::string, std::string>;

// Returns the differences, such as "optimizer.lr is 0.1 here and 0.2 there, and 3 more values
// differ"; "" if there are none.
std::string FactDifferences(const RankFacts& here, const RankFacts& there);

// Collective: must be called before any group is connected. If the facts of any rank differ from
// those of rank 0, throws TrainerError(kBadConfig) on all ranks, so that no rank waits for a failed
// rank. The message names the differences. Throws kPeerLost if a rank does not respond.
void CheckRanksAgree(const Rendezvous& rendezvous, int64_t rank, int64_t world_size,
                     const RankFacts& facts);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_RANK_AGREEMENT_H_
