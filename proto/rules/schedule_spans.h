// Converts the warm-up and the decay of the learning rate to samples, from any unit that a job file
// may use. Pure.
//
// A schedule is measured in samples, as in Megatron-LM's sample-based training. With a constant
// batch size this equals measuring in steps; during a batch ramp-up the rate follows the samples.
#ifndef TRAINYARD_PROTO_RULES_SCHEDULE_SPANS_H_
#define TRAINYARD_PROTO_RULES_SCHEDULE_SPANS_H_

#include <cstdint>
#include <vector>

#include "proto/contract/schedule_config.h"
#include "proto/contract/setting_rule.h"
#include "proto/contract/train_config.h"

namespace trainyard {

// Sample counts from the start of the run.
struct ScheduleSpans {
  int64_t warmup_end = 0;   // The rate reaches its peak; 0 without warm-up.
  int64_t peak = 0;         // warmup_end, or the end of the first step if there is no warm-up.
  int64_t decay_begin = 0;  // The rate begins to fall.
  int64_t decay_end = 0;    // The rate reaches its minimum. May be after the end of the run.
};

// Precondition: FindTrainingProblems accepts the settings. Tokens are rounded up to whole samples,
// fractions of the run to the nearest sample.
ScheduleSpans SpansOf(const TrainConfig& train, const ScheduleConfig& schedule);

// Reports schedules that are contradictory or do not fit the run.
std::vector<SettingProblem> FindScheduleProblems(const TrainConfig& train,
                                                 const ScheduleConfig& schedule);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_SCHEDULE_SPANS_H_
