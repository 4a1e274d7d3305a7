#include "trainer/start/attempt_start.h"

#include <optional>
#include <vector>

#include "proto/rules/evaluation_rules.h"
#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/rolled_back.h"
#include "trainer/checkpoint/starting_point.h"
#include "trainer/data/skip_setting.h"
#include "trainer/start/shared_directory.h"

namespace trainyard::trainer {
namespace {

// If the checkpoint that the controller named no longer exists, reports all checkpoints of the job.
// The controller has then missed some reports, and later attempts need these checkpoints as
// fallbacks.
void ReportStart(const StartingPoint& start, RankSetup& setup) {
  if (start.instead.empty()) return;
  for (const PublishedCheckpoint& known : start.instead) {
    const std::optional<double> loss = known.evaluation.LossOn(BestSetOf(setup.config));
    setup.telemetry.WriteCheckpoint({.step = known.step,
                                     .attempt = known.attempt.number,
                                     .path = known.path,
                                     .bytes = known.bytes,
                                     .metric = loss.has_value() ? BestMetricOf(setup.config) : "",
                                     .metric_value = loss.value_or(0)});
  }
  setup.report.Note("checkpoint " + setup.env.resume_from + " is gone; resuming from " +
                    start.path + ", the newest checkpoint of this job");
}

// Chooses the checkpoint from which to start. Rank 0 chooses for all ranks, so that all ranks load
// the same checkpoint. Rank 0 has already raised the fence, so no older attempt can publish a
// checkpoint meanwhile.
std::string ChooseStart(RankSetup& setup) {
  const RuntimeEnvironment& env = setup.env;
  if (env.resume_from.empty()) return "";
  constexpr double kAsNamed = -1;
  double step = 0;
  if (env.rank == 0) {
    const StartingPoint start = FindStartingPoint(env.resume_from, env.checkpoint_dir, env.job_id,
                                                  ParseRolledBack(env.rolled_back));
    step = start.instead.empty() ? kAsNamed : static_cast<double>(start.instead.back().step);
    ReportStart(start, setup);
  }
  step = SumOverMembers(*setup.groups.world, {step}, setup.device)[0];
  const std::string path =
      step == kAsNamed ? env.resume_from
                       : env.checkpoint_dir + "/" + StepDirectoryName(static_cast<int64_t>(step));
  CheckAllSeeCheckpoint(*setup.groups.world, setup.device, env, path);
  return path;
}

// Clears evaluation results of another job. If checkpoints are now compared on another evaluation
// set, the comparison starts with the latest loss on the new set.
void KeepJudging(const CheckpointReader& reader, const RankSetup& setup, TrainingState& state) {
  if (reader.manifest().attempt.job_id != setup.env.job_id) {
    state.evaluation = {};
    state.best = {};
  }
  const std::string set = BestSetOf(setup.config);
  if (state.best.set != set) NoteEvaluation(state.evaluation, set, state.best = {});
}

TrainingState Resume(const std::string& checkpoint, RankSetup& setup, const LoadTarget& target) {
  setup.progress.EnterPhase(Phase::kLoad, 0);
  const CheckpointReader reader(checkpoint);
  TrainingState state = LoadCheckpoint(reader, setup.config, target);
  if (LacksFp8History(reader, target.fp8)) {
    setup.report.Note(
        "the checkpoint has no FP8 history of train.fp8_amax_history_len steps; the first step "
        "scales each tensor by its own largest value");
  }
  KeepJudging(reader, setup, state);
  const std::vector<SkipRange> given = ParseSkipRanges(setup.env.skip_samples);
  state.skip = ResumedSkipRanges(reader.trainer_state(), given);
  for (const std::string& change : DataOrderChanges(reader.trainer_state(), setup.config, given)) {
    setup.report.Note(change);
  }
  return state;
}

}  // namespace

StartedAttempt StartAttempt(RankSetup& setup, const LoadTarget& target) {
  StartedAttempt attempt;
  attempt.state.skip = ParseSkipRanges(setup.env.skip_samples);
  attempt.start.resumed_from = ChooseStart(setup);
  if (!attempt.start.resumed_from.empty()) {
    attempt.state = Resume(attempt.start.resumed_from, setup, target);
  } else if (setup.env.generation > 1) {
    target.parameters.Initialise(setup.config.train.seed);
  }
  attempt.start.step = attempt.state.step;
  if (setup.env.rank == 0) {
    CheckOverwritesNone(setup.env.checkpoint_dir, setup.env.job_id, attempt.state.step);
  }
  return attempt;
}

}  // namespace trainyard::trainer
