// Refuses a gang whose ranks were not started alike.
#ifndef TRAINYARD_TRAINER_PARALLEL_RANK_AGREEMENT_H_
#define TRAINYARD_TRAINER_PARALLEL_RANK_AGREEMENT_H_

#include <cstdint>
#include <map>
#include <string>

#include "trainer/parallel/rendezvous.h"

namespace trainyard::trainer {

// Values that must be the same on every rank, by name: settings, versions of libraries.
using RankFacts = std::map<std::string, std::string>;

// "optimizer.lr is 0.1 here and 0.2 there, and 3 more differ"; empty where both are alike.
std::string FactDifferences(const RankFacts& here, const RankFacts& there);

// Every rank calls it, before it connects any group. Throws TrainerError(kBadConfig) on all ranks
// when the facts of one are not those of rank 0: none of them waits for a rank that has been
// refused. The message names what differs. Throws kPeerLost when a rank does not answer.
void CheckRanksAgree(const Rendezvous& rendezvous, int64_t rank, int64_t world_size,
                     const RankFacts& facts);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_RANK_AGREEMENT_H_
