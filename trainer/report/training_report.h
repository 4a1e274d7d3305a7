// Reports the progress of a training run: console lines, telemetry records and metrics.
#ifndef TRAINYARD_TRAINER_REPORT_TRAINING_REPORT_H_
#define TRAINYARD_TRAINER_REPORT_TRAINING_REPORT_H_

#include <torch/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "proto/contract/phase.h"
#include "proto/contract/run_config.h"
#include "trainer/config/runtime_environment.h"
#include "trainer/data/training_samples.h"
#include "trainer/report/run_report.h"
#include "trainer/state/training_state.h"
#include "trainer/step/step_runner.h"
#include "trainer/telemetry/rank_progress.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {

// The values of a step that rank 0 reports. All ranks have these values.
struct ReportedStep {
  int64_t step = 0;
  double loss = 0;
  double grad_norm = 0;
  double learning_rate = 0;
  std::string samples;  // Range of sample positions, "a:b".
};

// Collects the steps between two `metrics` records, over which the values are averaged. Must be
// used from one thread.
class TrainingReport {
 public:
  // All members must outlive the report.
  struct Parts {
    const RunConfig& config;
    const RuntimeEnvironment& env;
    const torch::Device device;
    const TrainingSamples& samples;
    TelemetryWriter& telemetry;
    RankProgress& progress;
    RunReport& console;
  };

  explicit TrainingReport(const Parts& parts);

  // memory_warning: see CheckMemory.
  void Header(const HeaderFacts& facts, const std::string& memory_warning);
  // Reports the data sets that the run reads. Call once per attempt.
  void DataSets();
  void EnterPhase(Phase phase, int64_t step) { parts_.progress.EnterPhase(phase, step); }

  // Adds a finished step, which used `samples` samples, to the current interval.
  void AddStep(const StepResult& result, int64_t samples);
  // Returns the positions of the interval's samples. `state` is the state after the interval's
  // latest step.
  std::string PositionsOfInterval(const TrainingState& state) const;
  // Tells the user that a step overflowed with this loss scale and changed no weights.
  void SkippedStep(int64_t step, double loss_scale);
  // Reports the step that led to `state` to the worker. stall_seconds: defined at
  // RankProgress::Step.
  void FinishStep(const TrainingState& state, const StepResult& result, double stall_seconds);
  // Reports the interval, which ends with the step that led to `state`, and begins the next
  // interval. The values in `more` are reported in addition to the values of the step.
  void EndInterval(const TrainingState& state, const StepResult& result, double stall_seconds,
                   const MetricValues& more);
  // Reports a step that the previous process may already have reported. Telemetry then has two
  // records of the step, with equal values.
  void Repeat(const ReportedStep& step);

  // Reports the loss on one of the evaluation sets.
  void Evaluation(int64_t step, const std::string& set, double loss, int64_t tokens);
  // seconds: duration of the run.
  void Summary(int64_t step, double seconds) { parts_.console.Summary(step, seconds); }

 private:
  // Totals since the latest `metrics` record.
  struct Interval {
    int64_t steps = 0;
    int64_t samples = 0;
    double seconds = 0;
    double stall_seconds_before = 0;
    MetricValues step_times;  // Times of the interval's latest measured step.
  };

  StepReport ReportOf(const TrainingState& state, const StepResult& result) const;
  MetricValues ValuesOf(const TrainingState& state, const StepResult& result,
                        const StepReport& report, double stall_seconds) const;
  void WritePartNorms(int64_t step, const StepResult& result);
  void WriteExperts(int64_t step, const StepResult& result);

  const Parts parts_;
  Interval interval_;
  // The time of the newest `experts` record.
  std::optional<std::chrono::steady_clock::time_point> experts_written_;
  bool has_attention_ = false;  // True once a record has named the attention backend.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_REPORT_TRAINING_REPORT_H_
