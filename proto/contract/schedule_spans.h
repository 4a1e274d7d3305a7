// Warm-up and decay of the learning rate in samples, however a job file writes them. Pure.
//
// A schedule is measured in samples, as Megatron-LM's sample-based training is. With a batch of one
// size that is the same as measuring it in steps; during a ramp-up of the batch the rate follows
// the samples.
#ifndef TRAINYARD_PROTO_CONTRACT_SCHEDULE_SPANS_H_
#define TRAINYARD_PROTO_CONTRACT_SCHEDULE_SPANS_H_

#include <cstdint>
#include <vector>

#include "proto/contract/run_config.h"
#include "proto/contract/setting_rule.h"

namespace trainyard {

// Numbers of samples from the start of the run.
struct ScheduleSpans {
  int64_t warmup_end = 0;   // The rate has its peak; 0 without warm-up.
  int64_t peak = 0;         // The same, but the end of the first step without warm-up.
  int64_t decay_begin = 0;  // The rate begins to fall.
  int64_t decay_end = 0;    // The rate has its minimum. May lie after the end of the run.
};

// Of settings that FindTrainingProblems accepts. Tokens are rounded up to whole samples, fractions
// of the run to the nearest sample.
ScheduleSpans SpansOf(const TrainConfig& train, const ScheduleConfig& schedule);

// Schedules that contradict themselves or do not fit the run.
std::vector<SettingProblem> FindScheduleProblems(const TrainConfig& train,
                                                 const ScheduleConfig& schedule);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_SCHEDULE_SPANS_H_
