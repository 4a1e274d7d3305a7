// The sequences of a micro-batch over which a balance loss is averaged.
#ifndef TRAINYARD_TRAINER_OPS_TENSORS_BALANCE_SEQUENCES_H_
#define TRAINYARD_TRAINER_OPS_TENSORS_BALANCE_SEQUENCES_H_

#include <cstdint>

namespace trainyard::trainer {

// The loss of a whole micro-batch counts all its samples as one sequence.
struct BalanceSequences {
  int64_t count = 1;   // Sequences in the micro-batch.
  int64_t length = 0;  // Rows of one sequence on the tensor-parallel ranks together.
  int64_t first = 0;   // Index of this rank's first row among those count * length rows.
  int64_t tokens = 0;  // Tokens of one sequence over all ranks.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_TENSORS_BALANCE_SEQUENCES_H_
