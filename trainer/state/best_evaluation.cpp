#include "trainer/state/best_evaluation.h"

#include <optional>

namespace trainyard::trainer {

bool NoteEvaluation(const StoredEvaluation& evaluation, const std::string& set,
                    BestEvaluation& best) {
  const std::optional<double> loss = evaluation.LossOn(set);
  if (!loss.has_value()) return false;
  const bool is_first = best.step < 0 || best.set != set;
  if (!is_first && *loss >= best.loss) return false;
  best = {evaluation.step, set, *loss};
  return true;
}

}  // namespace trainyard::trainer
