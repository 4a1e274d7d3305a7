// One rank of a run with evaluation.only: loads the weights, evaluates every set once and exits.
#ifndef TRAINYARD_TRAINER_EVALUATION_EVALUATION_RUN_H_
#define TRAINYARD_TRAINER_EVALUATION_EVALUATION_RUN_H_

#include <cstdint>

#include "proto/contract/run_config.h"
#include "trainer/config/runtime_environment.h"
#include "trainer/config/trainer_error.h"
#include "trainer/evaluation/evaluator.h"
#include "trainer/model/decoder.h"
#include "trainer/start/rank_setup.h"
#include "trainer/step/pipeline.h"
#include "trainer/step/weight_exchange.h"
#include "trainer/telemetry/rank_progress.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {

// Evaluates without allocating gradients or optimizer state. Does not change the checkpoint
// directory, because the run that writes to it may still be active. Supports every training layout.
// Must be used from one thread, except WriteFlights.
class EvaluationRun {
 public:
  // Connects the ranks, opens the sets and loads the weights of env.resume_from. `config` must be
  // resolved (ResolveRunConfig). `telemetry` and `progress` must outlive this object. Throws
  // TrainerError: kNoInput if there is no checkpoint, and the errors of Trainer's constructor.
  EvaluationRun(const RunConfig& config, const RuntimeEnvironment& env, TelemetryWriter& telemetry,
                RankProgress& progress);
  EvaluationRun(const EvaluationRun&) = delete;
  EvaluationRun& operator=(const EvaluationRun&) = delete;

  // Evaluates every set. Returns kOk, or kTerminated if SIGTERM interrupted the evaluation.
  ExitCode Run();

  // See Trainer::WriteFlights.
  void WriteFlights() { setup_.stall_watch.Write(); }

 private:
  void Load();
  ExitCode Evaluate();

  RankSetup setup_;
  Decoder model_;
  WeightExchange weights_;
  const Pipeline pipeline_;
  Evaluator evaluator_;
  int64_t step_ = 0;  // Step of the checkpoint.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_EVALUATION_EVALUATION_RUN_H_
