#include "controller/core/state/attempts/lost_training.h"

namespace trainyard::controller {

void AddLostTraining(const LostTraining& lost, v1::TimeUse& use) {
  if (lost.phase == v1::LEDGER_PHASE_DIVERGING) {
    use.set_diverged_ms(use.diverged_ms() + lost.lost_ms);
    use.set_diverged_until_ms(lost.until_ms);
  } else {
    use.set_slow_ms(use.slow_ms() + lost.lost_ms);
    use.set_slow_until_ms(lost.until_ms);
  }
}

}  // namespace trainyard::controller
