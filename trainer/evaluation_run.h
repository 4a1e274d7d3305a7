// One rank of a run with evaluation.only: loads weights, evaluates every set once and ends.
#ifndef TRAINYARD_TRAINER_EVALUATION_RUN_H_
#define TRAINYARD_TRAINER_EVALUATION_RUN_H_

#include <cstdint>
#include <memory>
#include <string>

#include "proto/contract/run_config.h"
#include "trainer/config/runtime_environment.h"
#include "trainer/config/trainer_error.h"
#include "trainer/evaluator.h"
#include "trainer/model/decoder.h"
#include "trainer/parallel/mesh.h"
#include "trainer/parallel/rank_groups.h"
#include "trainer/parallel/rendezvous.h"
#include "trainer/run_report.h"
#include "trainer/stall_watch.h"
#include "trainer/step/pipeline.h"
#include "trainer/step/weight_exchange.h"
#include "trainer/telemetry/rank_progress.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {

// Holds neither gradients nor the state of an optimizer, and changes nothing in the checkpoint
// directory: the run whose checkpoints they are may still be at work. Under every layout that
// training has. Lives on one thread.
class EvaluationRun {
 public:
  // Connects the ranks, opens the sets and loads the weights of env.resume_from. `config` is
  // resolved (ResolveRunConfig); telemetry and progress must outlive this. Throws TrainerError:
  // kNoInput without a checkpoint, and what Trainer's throws.
  EvaluationRun(const RunConfig& config, const RuntimeEnvironment& env, TelemetryWriter& telemetry,
                RankProgress& progress);
  EvaluationRun(const EvaluationRun&) = delete;
  EvaluationRun& operator=(const EvaluationRun&) = delete;

  // kOk, or kTerminated when SIGTERM has cut it short.
  ExitCode Run();

  // As Trainer's.
  void WriteFlights() { stall_watch_.Write(); }

 private:
  void Load();
  ExitCode Evaluate();

  const RuntimeEnvironment env_;
  TelemetryWriter& telemetry_;
  RankProgress& progress_;
  RunReport report_;
  const Mesh mesh_;
  const int64_t threads_;
  const torch::Device device_;
  const RunConfig config_;  // With the attention backend that the device can take.
  std::unique_ptr<Rendezvous> rendezvous_;  // Null for a single rank.
  const RankGroups groups_;
  StallWatch stall_watch_;
  Decoder model_;
  WeightExchange weights_;
  const Pipeline pipeline_;
  Evaluator evaluator_;
  int64_t step_ = 0;  // Of the checkpoint.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_EVALUATION_RUN_H_
