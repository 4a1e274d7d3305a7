// The lowest loss of a run on one evaluation set.
#ifndef TRAINYARD_TRAINER_BEST_EVALUATION_H_
#define TRAINYARD_TRAINER_BEST_EVALUATION_H_

#include <cstdint>
#include <string>

#include "trainer/checkpoint/stored_evaluation.h"

namespace trainyard::trainer {

struct BestEvaluation {
  int64_t step = -1;  // -1: none yet.
  std::string set;
  double loss = 0;  // Nats a token.
};

// Compares an evaluation with the best one on `set`. True when it is the first on this set or lower
// than all before; it is the best one then. False, too, where its loss is not finite.
bool NoteEvaluation(const StoredEvaluation& evaluation, const std::string& set,
                    BestEvaluation& best);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_BEST_EVALUATION_H_
