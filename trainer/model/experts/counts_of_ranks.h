// The numbers of rows that ranks send to each other's experts.
#ifndef TRAINYARD_TRAINER_MODEL_EXPERTS_COUNTS_OF_RANKS_H_
#define TRAINYARD_TRAINER_MODEL_EXPERTS_COUNTS_OF_RANKS_H_

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "trainer/model/parallel/expert_parallel.h"
#include "trainer/model/pass/expert_choice.h"

namespace trainyard::trainer {

// Gathers the counts of all ranks and begins to copy them to host memory, for
// TokenDispatch::ShareCounts.
void GatherCounts(const ExpertParallel& parallel, ExpertChoice& choice);

// Sums of the counts of all ranks, int64 [ranks, experts] in host memory.
class RowCounts {
 public:
  RowCounts(torch::Tensor counts, const ExpertParallel& parallel);

  // The first expert of this rank, and the counts for its experts: [ranks, experts here].
  int64_t first() const { return experts_.first; }
  torch::Tensor here() const { return counts_.narrow(1, experts_.first, experts_.length); }

  // For each rank: the number of rows that this rank sends to it, and receives from it.
  std::vector<int64_t> Sent() const;
  std::vector<int64_t> Received() const;
  // For each expert of this rank: the number of its rows.
  std::vector<int64_t> OfExpertsHere() const;

 private:
  const torch::Tensor counts_;
  const ExpertParallel parallel_;
  const IndexRange experts_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_EXPERTS_COUNTS_OF_RANKS_H_
