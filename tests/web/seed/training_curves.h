// Metrics of a simulated trainer: smooth curves with noise, a pure function of job and step.
#ifndef TRAINYARD_TESTS_WEB_SEED_TRAINING_CURVES_H_
#define TRAINYARD_TESTS_WEB_SEED_TRAINING_CURVES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trainyard/v1/job.pb.h"

namespace trainyard::seed {

// Bytes of one step in rank 0's telemetry, so that the next step follows from the end of the
// stream.
inline constexpr int64_t kBytesPerStep = 100;

struct TrainingRun {
  int64_t job_id = 0;
  int64_t steps = 0;
  double tokens_per_step = 0;
  // Step time at 8,000 tokens per second on each rank.
  double step_seconds = 0;
  double lr = 0;
};

TrainingRun RunOf(const v1::Job& job);

using Values = std::vector<std::pair<std::string, double>>;

// loss and grad_norm first, then the other well-known names, and one name without a default panel.
Values ValuesAt(const TrainingRun& run, int64_t step);

double ValidationLossAt(const TrainingRun& run, int64_t step);

// Step time of one rank: the gang's median with noise. One rank in 200 is a third slower.
double RankStepSeconds(const TrainingRun& run, int rank, int64_t step);

// One line of output, including its line end.
std::string OutputLine(const TrainingRun& run, int rank, int64_t step);

}  // namespace trainyard::seed

#endif  // TRAINYARD_TESTS_WEB_SEED_TRAINING_CURVES_H_
