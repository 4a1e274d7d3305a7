// The learning rate as a pure function of the number of samples trained on.
//
// Let x be the number of samples of the run up to the end of a step, w the end of the warm-up, L
// the peak rate and m the minimum. r goes from 0 at the beginning of the decay to 1 at its end. The
// formulas are those of Megatron-LM (megatron/core/optimizer_param_scheduler.py, init_lr 0).
// Megatron-LM counts x before the step, so its rates come one step later.
//   warm-up              L x / w                                            for x < w
//   constant             L
//   linear               m + (L - m) (1 - r)
//   cosine               m + (L - m) (1 + cos(pi r)) / 2                    (arXiv 1608.03983)
//   inverse_square_root  max(m, L sqrt(w / x)), m after the decay's end     (arXiv 1706.03762)
//   wsd                  L before the decay; in it m + (L - m) c(r)         (arXiv 2404.06395)
//     c(r) is one of:  linear 1 - r,  cosine (1 + cos(pi r)) / 2,
//                      exponential 2 * 0.5^r - 1,  minus_sqrt 1 - sqrt(r)
#ifndef TRAINYARD_TRAINER_OPTIMIZER_SCHEDULE_H_
#define TRAINYARD_TRAINER_OPTIMIZER_SCHEDULE_H_

#include <cstdint>

#include "proto/contract/optimizer_config.h"
#include "proto/contract/schedule_config.h"
#include "proto/rules/schedule_spans.h"

namespace trainyard::trainer {

// Returns the learning rate of the step that ends after `samples` samples of the run. The last step
// of a decay has exactly min_lr. Without a warm-up, inverse_square_root starts at the peak.
double LearningRate(const ScheduleConfig& schedule, const OptimizerConfig& optimizer,
                    const ScheduleSpans& spans, int64_t samples);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPTIMIZER_SCHEDULE_H_
