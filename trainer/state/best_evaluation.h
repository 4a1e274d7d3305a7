// The lowest loss of a run on one evaluation set.
#ifndef TRAINYARD_TRAINER_STATE_BEST_EVALUATION_H_
#define TRAINYARD_TRAINER_STATE_BEST_EVALUATION_H_

#include <cstdint>
#include <string>

#include "trainer/checkpoint/stored_evaluation.h"

namespace trainyard::trainer {

struct BestEvaluation {
  int64_t step = -1;  // -1: none yet.
  std::string set;
  double loss = 0;  // Nats per token.
};

// Stores `evaluation` in `best` and returns true if that evaluation is the first on `set` or has a
// lower loss than `best`. Returns false if `evaluation` has no loss for `set`, because non-finite
// losses are not stored.
bool NoteEvaluation(const StoredEvaluation& evaluation, const std::string& set,
                    BestEvaluation& best);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STATE_BEST_EVALUATION_H_
