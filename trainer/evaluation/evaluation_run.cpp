#include "trainer/evaluation/evaluation_run.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "proto/contract/attention_rules.h"
#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/parallel/device.h"
#include "trainer/process/signals.h"
#include "trainer/start/attention_choice.h"
#include "trainer/start/gang.h"
#include "trainer/start/shared_directory.h"
#include "trainer/state/training_state.h"
#include "trainer/step/model_options.h"

namespace trainyard::trainer {
namespace {

using Clock = std::chrono::steady_clock;

const RuntimeEnvironment& WithCheckpoint(const RuntimeEnvironment& env) {
  if (!env.resume_from.empty()) return env;
  throw TrainerError(ExitCode::kNoInput,
                     "evaluation.only finds no checkpoint in " + env.checkpoint_dir +
                         "; name one in checkpoint.resume_from, or the directory of a run's "
                         "checkpoints in checkpoint.dir.");
}

DecoderOptions WeightsOnly(DecoderOptions options) {
  options.seed.reset();
  options.parts.trains = false;
  return options;
}

}  // namespace

EvaluationRun::EvaluationRun(const RunConfig& config, const RuntimeEnvironment& env,
                             TelemetryWriter& telemetry, RankProgress& progress)
    : env_(WithCheckpoint(env)),
      telemetry_(telemetry),
      progress_(progress),
      report_(env.rank == 0),
      mesh_(config.layout),
      threads_(SetThreads(config, env)),
      device_(OpenDevice(config.resources.device, env.local_rank)),
      config_(WithAttentionChosen(config)),
      rendezvous_(Meet(config_, env)),
      groups_(ConnectGroups(config, mesh_, env, rendezvous_.get(), device_)),
      stall_watch_(groups_, telemetry),
      model_(config.model, WeightsOnly(ModelOptions(config_, mesh_, env.rank, groups_, device_))),
      weights_(model_, model_.parameters(), *groups_.shard),
      pipeline_(model_, groups_.links, config.layout.zero_bubble),
      evaluator_(config, pipeline_, groups_, mesh_.DataParallelIndex(env.rank), device_) {
  model_.UseWeights(weights_);
  Load();
}

void EvaluationRun::Load() {
  progress_.EnterPhase(Phase::kLoad, 0);
  CheckAllSeeCheckpoint(*groups_.world, device_, env_, env_.resume_from);
  const CheckpointReader reader(env_.resume_from);
  step_ = LoadCheckpoint(reader, config_, {model_.parameters(), nullptr, groups_}).step;
  report_.EvaluationHeader(config_, env_,
                           {.device = DeviceName(device_),
                            .threads = threads_,
                            .attention = std::string(NameOf(config_.train.attention_backend)),
                            .first_step = step_,
                            .resumed_from = env_.resume_from});
}

ExitCode EvaluationRun::Run() {
  try {
    return Evaluate();
  } catch (const TrainerError& error) {
    if (error.code() == ExitCode::kPeerLost) {
      ForEachGroup(groups_, [](Communicator& group) { group.Abort(); });
    }
    throw;
  }
}

ExitCode EvaluationRun::Evaluate() {
  const Clock::time_point start = Clock::now();
  DeferStop();
  progress_.EnterPhase(Phase::kEval, step_);
  const std::optional<std::vector<EvaluationResult>> results = evaluator_.Run(StopRequested);
  if (!results.has_value()) return ExitCode::kTerminated;
  for (const EvaluationResult& set : *results) {
    if (env_.rank == 0) telemetry_.WriteEvaluation(step_, set.name, set.loss, set.tokens);
    report_.Evaluation(step_, set.name, set.loss, set.tokens);
  }
  report_.Summary(step_, std::chrono::duration<double>(Clock::now() - start).count());
  progress_.EnterPhase(Phase::kDone, step_);
  return ExitCode::kOk;
}

}  // namespace trainyard::trainer
