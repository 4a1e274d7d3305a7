// Metrics of a simulated trainer: smooth curves with noise. The metrics depend only on the job and
// the step.
#ifndef TRAINYARD_TESTS_WEB_SEED_TRAINING_CURVES_H_
#define TRAINYARD_TESTS_WEB_SEED_TRAINING_CURVES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trainyard/v1/job.pb.h"

namespace trainyard::seed {

// Bytes per step in rank 0's telemetry. Because the number is constant, the length of the telemetry
// shows which step is next.
inline constexpr int64_t kBytesPerStep = 100;

struct TrainingRun {
  int64_t job_id = 0;
  int64_t steps = 0;
  double tokens_per_step = 0;
  // Step time in seconds if each rank processes 8,000 tokens per second.
  double step_seconds = 0;
  double lr = 0;
};

TrainingRun RunOf(const v1::Job& job);

using Values = std::vector<std::pair<std::string, double>>;

// Returns loss and grad_norm, followed by the other standard names and by one name without a
// default panel.
Values ValuesAt(const TrainingRun& run, int64_t step);

double ValidationLossAt(const TrainingRun& run, int64_t step);

// Returns a rank's step time: the gang's median
// plus noise. One rank in 200 takes a third longer.
double RankStepSeconds(const TrainingRun& run, int rank, int64_t step);

// Returns one line of output, including the line end.
std::string OutputLine(const TrainingRun& run, int rank, int64_t step);

}  // namespace trainyard::seed

#endif  // TRAINYARD_TESTS_WEB_SEED_TRAINING_CURVES_H_
