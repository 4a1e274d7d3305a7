// One rank of a training run, from settings to the last checkpoint.
#ifndef TRAINYARD_TRAINER_RUN_TRAINER_H_
#define TRAINYARD_TRAINER_RUN_TRAINER_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "proto/contract/schedule_spans.h"
#include "trainer/checkpoint/checkpoint_writer.h"
#include "trainer/checkpoint/starting_point.h"
#include "trainer/config/runtime_environment.h"
#include "trainer/config/trainer_error.h"
#include "trainer/data/batch_order.h"
#include "trainer/data/prefetcher.h"
#include "trainer/data/sample_source.h"
#include "trainer/evaluation/evaluator.h"
#include "trainer/loop/recovery.h"
#include "trainer/model/decoder.h"
#include "trainer/optimizer/adamw.h"
#include "trainer/parallel/mesh.h"
#include "trainer/parallel/rank_groups.h"
#include "trainer/parallel/rendezvous.h"
#include "trainer/report/checkpoint_report.h"
#include "trainer/report/run_report.h"
#include "trainer/report/stall_watch.h"
#include "trainer/state/training_state.h"
#include "trainer/step/step_runner.h"
#include "trainer/telemetry/rank_progress.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {

// Members are constructed in the order of their dependencies. Use from one thread, except
// WriteFlights.
class Trainer {
 public:
  // Connects the ranks, opens the data, builds the model and loads the checkpoint to resume from.
  // `config` must be resolved (ResolveRunConfig). `telemetry`, `progress` and `healing` must
  // outlive this. healing: null if the loss of a peer ends the run. If env.generation > 1, the gang
  // continues in place. Throws TrainerError.
  Trainer(const RunConfig& config, const RuntimeEnvironment& env, TelemetryWriter& telemetry,
          RankProgress& progress, Healing* healing = nullptr);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  // Trains to the last step, or until SIGTERM. Saves everything and returns kOk or kTerminated.
  // Throws TrainerError for every other outcome.
  ExitCode Run();

  // Writes this rank's position in each of its groups, to help find the rank that blocks the
  // others. Thread-safe.
  void WriteFlights() { stall_watch_.Write(); }

  // Prepares for destruction after the loss of a peer: leaves no work that waits for the peer.
  void PrepareToHeal();

 private:
  // Totals since the last metric record.
  struct Interval {
    int64_t steps = 0;
    int64_t samples = 0;
    double seconds = 0;
    double stall_seconds_before = 0;
    MetricValues step_times;  // Times of the interval's latest measured step.
  };

  std::string ChooseStart();
  void ReportStart(const StartingPoint& start);
  void Start();
  void Resume(const std::string& checkpoint);
  void ContinueFrom(const RestoredRun& run);
  void ReportAgain(const ReportedStep& step);
  void CloseRendezvous();
  void KeepJudging(const CheckpointReader& reader);
  void OpenCheckpoints();
  void PrintHeader(const std::string& resumed_from);
  void StartPrefetch();

  ExitCode TrainToTheEnd();
  bool AfterStep();
  void LaunchStep();
  bool IsMeasurementDue();
  void NoteTimes(const StepResult& result);
  void FinishStep();
  bool IsPauseDue() const;
  std::string PositionsOf(int64_t first, int64_t end) const;
  std::string PositionsOfStep() const;
  void AwaitLaunchedSteps();
  void CheckFinite(const StepResult& result);
  StepReport ReportOf(const StepResult& result) const;
  void Log(const StepResult& result);
  void LogPartNorms(const StepResult& result);
  bool Evaluate();
  void NoteResults(const std::vector<EvaluationResult>& results);
  void SaveIfDue();
  void BeginDueSave();
  void BeginLateSave();
  bool MaySave(std::chrono::milliseconds read_timeout);
  void Save(SaveKind kind);
  std::vector<TensorChunk> Chunks();
  bool HasLostNewestSave();
  ExitCode Finish(ExitCode code);
  void EnterPhase(Phase phase);
  bool IsDue(int64_t every_steps) const;

  const RuntimeEnvironment env_;
  TelemetryWriter& telemetry_;
  RankProgress& progress_;
  RunReport report_;
  const Mesh mesh_;
  const int64_t threads_;
  const torch::Device device_;
  const RunConfig config_;            // Attention backend resolved for this device.
  const std::string memory_warning_;  // Empty if there is enough memory.
  BatchOrder batches_;
  const ScheduleSpans spans_;
  std::unique_ptr<Rendezvous> rendezvous_;  // Null for a single rank.
  const RankGroups groups_;
  StallWatch stall_watch_;
  StepClock clock_;
  SampleSource train_source_;
  Decoder model_;
  AdamW optimizer_;
  StepRunner runner_;
  std::unique_ptr<Recovery> recovery_;  // Null if the loss of a peer ends the run.
  std::optional<Evaluator> evaluator_;
  TrainingState state_;          // After the latest finished step.
  int64_t launched_ = 0;         // Latest launched step.
  bool stop_ = false;            // A finished step reports that some rank was asked to stop.
  bool save_asked_ = false;      // A save was requested; reset when it is due.
  int64_t save_passed_on_ = -1;  // Step launched with the latest save request.
  AttemptStart start_;
  int64_t first_step_ = 0;   // Steps completed when this process started.
  int64_t saved_step_ = -1;  // Latest step passed to the writer.
  int64_t evaluated_step_ = -1;
  bool has_logged_ = false;
  int64_t save_due_since_ = -1;   // Step of a periodic save not yet begun, or -1.
  double save_wait_seconds_ = 0;  // Seconds that save has delayed training.
  ClaimedDirectory claim_;
  CheckpointReport checkpoint_report_;
  std::unique_ptr<CheckpointWriter> checkpoints_;
  std::unique_ptr<Prefetcher> prefetcher_;
  Interval interval_;
  std::chrono::steady_clock::time_point measured_;  // Launch of the latest measured step.
  std::chrono::steady_clock::time_point start_time_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_RUN_TRAINER_H_
