// The training loop of one rank, which runs steps, evaluations and saves until the last step or a
// stop.
#ifndef TRAINYARD_TRAINER_LOOP_TRAINING_LOOP_H_
#define TRAINYARD_TRAINER_LOOP_TRAINING_LOOP_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/contract/exit_code.h"
#include "proto/rules/schedule_spans.h"
#include "trainer/data/prefetcher.h"
#include "trainer/data/training_samples.h"
#include "trainer/evaluation/evaluator.h"
#include "trainer/loop/recovery.h"
#include "trainer/report/training_report.h"
#include "trainer/saving/saver.h"
#include "trainer/start/attempt_start.h"
#include "trainer/start/rank_setup.h"
#include "trainer/state/training_state.h"
#include "trainer/step/step_runner.h"

namespace trainyard::trainer {

// Must be used from one thread.
class TrainingLoop {
 public:
  // All members must outlive the loop.
  struct Parts {
    const RankSetup& setup;
    const TrainingSamples& samples;
    StepRunner& runner;
    Recovery* recovery;    // Null: the loss of a peer ends the run.
    Evaluator* evaluator;  // Null: the run does not evaluate.
    TrainingReport& report;
    Saver& saver;
  };

  // Starts from the state in `attempt`. The runner's model and optimizer must already be in that
  // state.
  TrainingLoop(const Parts& parts, const StartedAttempt& attempt);

  // Trains until the last step or SIGTERM, then saves. Returns kOk after the last step and
  // kTerminated after SIGTERM. Throws TrainerError on every failure.
  ExitCode Run();

  // Completed steps.
  int64_t step() const { return state_.step; }

 private:
  ExitCode Train();
  bool AfterStep();
  void LaunchStep();
  void BlockChanges();
  TokenBatch NextBatch();
  bool IsMeasurementDue();
  void FinishStep();
  void Report(const StepResult& result);
  bool IsPauseDue() const;
  std::string PositionsOfStep() const;
  void AwaitLaunchedSteps();
  std::string ScaleText() const;
  void CheckRead(const StepResult& result);
  [[noreturn]] void EndUnread(const std::string& text, const std::string& samples);
  void CheckFinite(const StepResult& result);
  bool Evaluate();
  std::optional<std::vector<EvaluationResult>> RunEvaluator();
  void NoteResults(const std::vector<EvaluationResult>& results);
  void EnterPhase(Phase phase) { parts_.report.EnterPhase(phase, state_.step); }
  bool IsDue(int64_t every_steps) const;

  const Parts parts_;
  const RunConfig& config_;
  const ScheduleSpans spans_;
  const AttemptStart start_;
  TrainingState state_;   // State after the latest finished step.
  int64_t launched_ = 0;  // Latest launched step.
  bool stop_ = false;     // True once a finished step has reported a stop request on some rank.
  int64_t evaluated_step_ = -1;
  std::unique_ptr<Prefetcher> prefetcher_;  // Set by Run.
  std::string read_error_;  // Why this rank cannot read its next samples; usually "".
  std::chrono::steady_clock::time_point measured_;  // Launch time of the latest measured step.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_LOOP_TRAINING_LOOP_H_
