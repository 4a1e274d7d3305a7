#include "trainer/evaluation/evaluation_run.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "proto/rules/attention_rules.h"
#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/parallel/device/device.h"
#include "trainer/process/signals.h"
#include "trainer/start/shared_directory.h"
#include "trainer/state/training_state.h"
#include "trainer/step/model_options.h"

namespace trainyard::trainer {
namespace {

using Clock = std::chrono::steady_clock;

const RuntimeEnvironment& WithCheckpoint(const RuntimeEnvironment& env) {
  if (!env.resume_from.empty()) return env;
  throw TrainerError(ExitCode::kNoInput,
                     "evaluation.only is set, but there is no checkpoint in " + env.checkpoint_dir +
                         ". Set checkpoint.resume_from to a checkpoint, or checkpoint.dir to the "
                         "checkpoint directory of a run.");
}

DecoderOptions WeightsOnly(const RankSetup& setup) {
  DecoderOptions options =
      ModelOptions(setup.config, setup.mesh, setup.env.rank, setup.groups, setup.device);
  options.seed.reset();
  options.parts.trains = false;
  return options;
}

}  // namespace

EvaluationRun::EvaluationRun(const RunConfig& config, const RuntimeEnvironment& env,
                             TelemetryWriter& telemetry, RankProgress& progress)
    : setup_(config, WithCheckpoint(env), telemetry, progress),
      model_(setup_.config.model, WeightsOnly(setup_)),
      weights_(model_, model_.parameters(), setup_.groups),
      pipeline_(model_, setup_.groups.links, config.layout.zero_bubble),
      evaluator_(config, pipeline_, setup_.groups, setup_.mesh.DataParallelIndex(env.rank),
                 setup_.device) {
  model_.UseWeights(weights_);
  Load();
}

void EvaluationRun::Load() {
  const std::string& checkpoint = setup_.env.resume_from;
  setup_.progress.EnterPhase(Phase::kLoad, 0);
  CheckAllSeeCheckpoint(*setup_.groups.world, setup_.device, setup_.env, checkpoint);
  const CheckpointReader reader(checkpoint);
  const ExpertBiases biases{model_.expert_balance().bias, setup_.config.model.moe_dense_layers};
  Fp8State fp8;
  if (model_.fp8() != nullptr) fp8.scaling = &model_.fp8()->scaling();
  step_ = LoadCheckpoint(reader, setup_.config,
                         {model_.parameters(), nullptr, setup_.groups, biases, fp8})
              .step;
  setup_.report.EvaluationHeader(
      setup_.config, setup_.env,
      {.device = DeviceName(setup_.device),
       .threads = setup_.threads,
       .attention = std::string(NameOf(setup_.config.train.attention_backend)),
       .first_step = step_,
       .resumed_from = checkpoint});
}

ExitCode EvaluationRun::Run() {
  try {
    return Evaluate();
  } catch (const TrainerError& error) {
    if (error.code() == ExitCode::kPeerLost) setup_.AbortGroups();
    throw;
  }
}

ExitCode EvaluationRun::Evaluate() {
  const Clock::time_point start = Clock::now();
  DeferStop();
  setup_.progress.EnterPhase(Phase::kEval, step_);
  const std::optional<std::vector<EvaluationResult>> results = evaluator_.Run(StopRequested);
  if (!results.has_value()) return ExitCode::kTerminated;
  for (const EvaluationResult& set : *results) {
    if (setup_.env.rank == 0) {
      setup_.telemetry.WriteEvaluation(step_, set.name, set.loss, set.tokens);
    }
    setup_.report.Evaluation(step_, set.name, set.loss, set.tokens);
  }
  setup_.report.Summary(step_, std::chrono::duration<double>(Clock::now() - start).count());
  setup_.progress.EnterPhase(Phase::kDone, step_);
  return ExitCode::kOk;
}

}  // namespace trainyard::trainer
