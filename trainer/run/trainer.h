// One rank of a training run, from its settings to its last checkpoint.
#ifndef TRAINYARD_TRAINER_RUN_TRAINER_H_
#define TRAINYARD_TRAINER_RUN_TRAINER_H_

#include <memory>
#include <optional>

#include "proto/contract/run_config.h"
#include "trainer/config/runtime_environment.h"
#include "trainer/config/trainer_error.h"
#include "trainer/data/training_samples.h"
#include "trainer/evaluation/evaluator.h"
#include "trainer/healing/healing.h"
#include "trainer/loop/recovery.h"
#include "trainer/loop/training_loop.h"
#include "trainer/model/decoder.h"
#include "trainer/optimizer/adamw.h"
#include "trainer/parallel/step_clock.h"
#include "trainer/report/training_report.h"
#include "trainer/saving/saver.h"
#include "trainer/start/attempt_start.h"
#include "trainer/start/rank_setup.h"
#include "trainer/step/step_runner.h"
#include "trainer/telemetry/rank_progress.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {

// Creates and connects the parts of a run. Each member is declared after the members on which it
// depends. Must be used from one thread, except WriteFlights.
class Trainer {
 public:
  // Connects the ranks, opens the data, builds the model, and loads the checkpoint from which the
  // run resumes. If env.generation > 1, continues in place instead. `config` must be resolved
  // (ResolveRunConfig). `telemetry`, `progress` and `healing` must outlive this object. healing:
  // null if the loss of a peer ends the run. Throws TrainerError.
  Trainer(const RunConfig& config, const RuntimeEnvironment& env, TelemetryWriter& telemetry,
          RankProgress& progress, Healing* healing = nullptr);
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  // See TrainingLoop::Run.
  ExitCode Run();

  // Writes this rank's current operation in each of its groups, which helps to find the rank that
  // blocks the others. Thread-safe.
  void WriteFlights() { setup_.stall_watch.Write(); }

  // Prepares this object for destruction after the loss of a peer. Afterwards, no work waits for
  // the lost peer.
  void PrepareToHeal();

 private:
  ExpertBiases Biases();
  Fp8State Fp8Histories();
  LoadTarget Target() {
    return {model_.parameters(), &optimizer_, setup_.groups, Biases(), Fp8Histories()};
  }
  void ConnectRecovery(Healing* healing);
  void OpenEvaluator();
  void Start();
  void PrintHeader(const AttemptStart& start);

  RankSetup setup_;
  StepClock clock_;
  TrainingSamples samples_;
  Decoder model_;
  AdamW optimizer_;
  StepRunner runner_;
  std::unique_ptr<Recovery> recovery_;  // Null: the loss of a peer ends the run.
  std::optional<Evaluator> evaluator_;
  TrainingReport report_;
  // Set by Start.
  std::optional<Saver> saver_;
  std::optional<TrainingLoop> loop_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_RUN_TRAINER_H_
