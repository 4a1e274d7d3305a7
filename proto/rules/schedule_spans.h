// Converts the warm-up and the decay of the learning rate from any unit of the job file to samples.
// Pure.
//
// A schedule is measured in samples, as in Megatron-LM's sample-based training. With a constant
// batch size, this is equivalent to steps. During a batch ramp-up, the learning rate follows the
// number of samples instead of the number of steps.
#ifndef TRAINYARD_PROTO_RULES_SCHEDULE_SPANS_H_
#define TRAINYARD_PROTO_RULES_SCHEDULE_SPANS_H_

#include <cstdint>
#include <vector>

#include "proto/contract/schedule_config.h"
#include "proto/contract/setting_rule.h"
#include "proto/contract/train_config.h"

namespace trainyard {

// The points at which the learning rate changes, in samples from the start of the run.
struct ScheduleSpans {
  int64_t warmup_end = 0;   // End of the warm-up; 0 if there is none.
  int64_t peak = 0;         // Highest rate: warmup_end, or the end of step 1 if that is 0.
  int64_t decay_begin = 0;  // The rate starts to fall here.
  int64_t decay_end = 0;    // The rate reaches its minimum here, maybe after the run's end.
};

// Returns the spans in samples. Token counts are rounded up to whole samples; fractions of the run
// are rounded to the nearest sample. Precondition: FindTrainingProblems reports no problem.
ScheduleSpans SpansOf(const TrainConfig& train, const ScheduleConfig& schedule);

// Reports schedule settings that contradict each other or do not fit into the run.
std::vector<SettingProblem> FindScheduleProblems(const TrainConfig& train,
                                                 const ScheduleConfig& schedule);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_SCHEDULE_SPANS_H_
