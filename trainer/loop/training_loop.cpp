#include "trainer/loop/training_loop.h"

#include <cmath>
#include <optional>
#include <string>

#include "proto/contract/telemetry_keys.h"
#include "proto/rules/evaluation_rules.h"
#include "proto/rules/loss_scale_rules.h"
#include "proto/text/number_text.h"
#include "trainer/config/trainer_error.h"
#include "trainer/optimizer/schedule.h"
#include "trainer/parallel/shared_text.h"
#include "trainer/process/signals.h"
#include "trainer/step/gradient_noise.h"
#include "trainer/step/loss_scale.h"

namespace trainyard::trainer {
namespace {

using Clock = std::chrono::steady_clock;

// The number of further steps that the host launches before it reads the result of a step. The
// device thus runs the next step while the host reads, and never waits for the host.
constexpr int64_t kStepsAhead = 1;

std::string ValueText(double value) {
  return std::isfinite(value) ? std::to_string(value) : NotFiniteText(value);
}

// Returns a sentence about the first router that is not finite; empty if all routers are finite.
std::string BadRouterText(const std::vector<LayerBalance>& experts) {
  const std::optional<int64_t> layer = FirstBadRouter(experts);
  if (!layer.has_value()) return "";
  return "The first router with logits that are not finite is in layer " + std::to_string(*layer) +
         ". ";
}

}  // namespace

TrainingLoop::TrainingLoop(const Parts& parts, const StartedAttempt& attempt)
    : parts_(parts),
      config_(parts.setup.config),
      spans_(SpansOf(config_.train, config_.schedule)),
      start_(attempt.start),
      state_(attempt.state),
      launched_(state_.step) {
  state_.loss_scale = ResumedLossScale(config_.train, state_.loss_scale);
}

ExitCode TrainingLoop::Run() {
  const Clock::time_point start = Clock::now();
  DeferStop();
  prefetcher_ = parts_.samples.Prefetch();
  if (parts_.recovery != nullptr) parts_.recovery->Begin(state_, start_);
  EnterPhase(Phase::kTrain);
  const ExitCode code = Train();
  parts_.saver.Finish(state_);
  parts_.report.Summary(state_.step, std::chrono::duration<double>(Clock::now() - start).count());
  EnterPhase(Phase::kDone);
  return code;
}

ExitCode TrainingLoop::Train() {
  const bool continues = parts_.setup.env.generation > 1 && state_.step > start_.step;
  if (continues && !AfterStep()) return ExitCode::kTerminated;
  while (state_.step < config_.train.steps) {
    if (launched_ < config_.train.steps && !stop_) LaunchStep();
    const bool pauses = stop_ || IsPauseDue();
    while (parts_.runner.pending() > (pauses ? 0 : kStepsAhead)) FinishStep();
    if (stop_ && parts_.runner.pending() == 0) return ExitCode::kTerminated;
    if (parts_.runner.pending() > 0) continue;
    if (!AfterStep()) return ExitCode::kTerminated;
  }
  const bool is_evaluated = parts_.evaluator == nullptr || evaluated_step_ == state_.step;
  return is_evaluated || Evaluate() ? ExitCode::kOk : ExitCode::kTerminated;
}

// Runs the evaluation and the save that are due after the latest step. Returns false if a stop
// interrupted the evaluation.
bool TrainingLoop::AfterStep() {
  if (IsDue(config_.evaluation.every_steps) && !Evaluate()) return false;
  if (state_.step < config_.train.steps) parts_.saver.SaveIfDue(state_);
  return true;
}

// True if the host must wait for the latest launched step before it launches the next step, because
// the work between the two steps needs the weights. Always true in fp16, because the scale and the
// learning rate of a step depend on whether the previous step was skipped. Always true on a CPU,
// because the step is complete when Launch returns.
bool TrainingLoop::IsPauseDue() const {
  const int64_t evaluation = config_.evaluation.every_steps;
  return !parts_.setup.device.is_cuda() || ScalesLoss(config_.train) ||
         launched_ == config_.train.steps || (evaluation > 0 && launched_ % evaluation == 0) ||
         parts_.saver.MayBeginAt(launched_);
}

void TrainingLoop::LaunchStep() {
  Recovery* const recovery = parts_.recovery;
  const int64_t step = launched_ + 1, skipped = state_.loss_scale.skipped_steps;
  if (recovery != nullptr) recovery->BeforeLaunch(step);
  const StepRequest request{
      .step = step,
      .rounds = parts_.samples.RoundsOf(step),
      .learning_rate = parts_.setup.env.lr_factor *
                       LearningRate(config_.schedule, config_.optimizer, spans_,
                                    parts_.samples.plan().SamplesThrough(step - skipped)),
      .stop = StopRequested(),
      .save = parts_.saver.TakeRequest(step),
      .measure = IsMeasurementDue(),
      .snapshot_cost = recovery == nullptr ? 0 : recovery->TakeCost(),
      .part_norms = config_.train.gradient_log_interval > 0 &&
                    step % config_.train.gradient_log_interval == 0,
      .loss_scale = ScalesLoss(config_.train) ? state_.loss_scale.scale : 1,
      .skipped_steps = skipped,
      .experts = step % config_.train.log_every_steps == 0 || step == config_.train.steps};
  parts_.runner.Launch(
      request, [this] { return NextBatch(); }, [this] { BlockChanges(); });
  ++launched_;
  if (recovery != nullptr) recovery->AfterLaunch(launched_);
}

// Lets the update of the launched step wait for the copies of saves and snapshots. The copies
// follow sums over all ranks, so the wait until they are queued must end when a rank is lost.
void TrainingLoop::BlockChanges() {
  const auto can_block = [this] {
    return parts_.saver.CanBlockChanges() &&
           (parts_.recovery == nullptr || parts_.recovery->CanBlockChanges());
  };
  if (!can_block()) parts_.setup.groups.world->WaitUntil(can_block);
  parts_.saver.BlockChanges();
  if (parts_.recovery != nullptr) parts_.recovery->BlockChanges();
}

// Returns this rank's next micro-batch. If its samples are bad, returns an unread batch instead of
// throwing: the other ranks are in the same step, and only all ranks together can save.
TokenBatch TrainingLoop::NextBatch() {
  try {
    return prefetcher_->Next();
  } catch (const TrainerError& error) {
    if (error.code() != ExitCode::kBadData) throw;
    read_error_ = error.what();
  }
  const int64_t rows = config_.layout.micro_batch, row_tokens = config_.train.seq_length + 1;
  TokenBatch batch;
  batch.samples.resize(rows);
  batch.row_tokens = row_tokens;
  batch.tokens.resize(rows * row_tokens);
  batch.is_unread = true;
  return batch;
}

// True at most once per second, because each time mark on the device takes some microseconds.
bool TrainingLoop::IsMeasurementDue() {
  const Clock::time_point now = Clock::now();
  if (now - measured_ < std::chrono::seconds(1)) return false;
  measured_ = now;
  return true;
}

void TrainingLoop::FinishStep() {
  const StepResult result = parts_.runner.Finish();
  // If the gang is reconnecting, the step was aborted, so its result must not be used.
  if (parts_.recovery != nullptr) parts_.recovery->Check();
  CheckRead(result);
  CheckFinite(result);
  if (!result.is_finite) parts_.report.SkippedStep(result.step, state_.loss_scale.scale);
  state_.loss_scale = NextLossScale(config_.train, state_.loss_scale, result.is_finite);
  ++state_.step;
  const int64_t samples = parts_.samples.plan().OfStep(state_.step).count;
  state_.samples += samples;
  state_.tokens += samples * config_.train.seq_length;
  stop_ = stop_ || result.stop;
  if (result.save) parts_.saver.Request();
  parts_.report.AddStep(result, samples);
  if (result.batches.has_value()) state_.noise.Add(EstimateNoise(*result.batches));
  if (parts_.recovery != nullptr) {
    parts_.recovery->Confirm(state_, result, parts_.report.PositionsOfInterval(state_));
  }
  Report(result);
}

void TrainingLoop::Report(const StepResult& result) {
  const double stall_seconds = prefetcher_->stall_seconds();
  parts_.report.FinishStep(state_, result, stall_seconds);
  const bool is_last = state_.step == config_.train.steps;
  if (!is_last && !stop_ && !IsDue(config_.train.log_every_steps)) return;
  parts_.report.EndInterval(
      state_, result, stall_seconds,
      parts_.recovery == nullptr ? MetricValues() : parts_.recovery->SnapshotValues());
}

std::string TrainingLoop::PositionsOfStep() const {
  return parts_.samples.PositionsOf(
      state_.samples, state_.samples + parts_.samples.plan().OfStep(state_.step + 1).count);
}

// Waits for all launched steps. The other ranks launch a step before they read the result of the
// preceding step. Without this wait, they would treat a rank that exits as a lost peer.
void TrainingLoop::AwaitLaunchedSteps() {
  try {
    while (parts_.runner.pending() > 0) parts_.runner.Finish();
  } catch (const TrainerError& error) {
    // Ignores the error, because the caller is about to throw an error of its own. With healing,
    // however, the loss of a peer may have caused the caller's error, so the loss is thrown
    // instead.
    if (parts_.recovery != nullptr && error.code() == ExitCode::kPeerLost) throw;
  }
}

// Returns the state of the loss scale, for the error message of a step that was not finite.
std::string TrainingLoop::ScaleText() const {
  if (!ScalesLoss(config_.train)) return "";
  const LossScale& current = state_.loss_scale;
  return ", loss scale " + NumberText(current.scale) + ", " +
         std::to_string(current.skipped_in_row + 1) + " such step(s) in a row";
}

// If a rank could not read its samples, saves the state before this step and throws the same error
// on all ranks. Later launched steps have changed no weights either, because that rank cannot read
// their samples.
void TrainingLoop::CheckRead(const StepResult& result) {
  if (!result.is_unread) return;
  AwaitLaunchedSteps();
  if (parts_.recovery != nullptr) parts_.recovery->CheckAfterWait();
  const std::string cause =
      SharedText(*parts_.setup.groups.world, read_error_, parts_.setup.device);
  const std::string step = std::to_string(result.step);
  EndUnread(cause + ". Step " + step + " needs these tokens. To continue without the samples of " +
                "this step, set TRAINYARD_SKIP_SAMPLES=" + PositionsOfStep(),
            PositionsOfStep());
}

// Saves the latest state and throws `text` on all ranks. Collective.
void TrainingLoop::EndUnread(const std::string& text, const std::string& samples) {
  const bool saves = state_.step > 0;
  if (saves) parts_.saver.Finish(state_);
  const std::string saved =
      saves ? "The checkpoint of step " + std::to_string(state_.step) + " is saved."
            : "No step was complete.";
  throw GangError(ExitCode::kBadData, text + ". " + saved,
                  "exit_" + std::to_string(static_cast<int>(ExitCode::kBadData)), state_.step,
                  samples);
}

void TrainingLoop::CheckFinite(const StepResult& result) {
  if (result.is_finite || MaySkipStep(config_.train, state_.loss_scale)) return;
  AwaitLaunchedSteps();
  if (parts_.recovery != nullptr) parts_.recovery->CheckAfterWait();
  const bool loss_is_bad = !std::isfinite(result.loss);
  const std::string what = loss_is_bad ? "The loss" : "The gradient norm";
  const std::string message =
      what + " of step " + std::to_string(result.step) + " is not finite (loss " +
      ValueText(result.loss) + ", gradient norm " + ValueText(result.grad_norm) + ScaleText() +
      "). " + BadRouterText(result.experts) +
      "Resume from an earlier checkpoint with a lower learning rate, or without the samples of "
      "this step: TRAINYARD_SKIP_SAMPLES=" +
      PositionsOfStep() + ".";
  throw GangError(ExitCode::kNotFinite, message,
                  loss_is_bad ? telemetry::kNanLoss : telemetry::kNanGradient, result.step,
                  PositionsOfStep());
}

std::optional<std::vector<EvaluationResult>> TrainingLoop::RunEvaluator() {
  try {
    return parts_.evaluator->Run(StopRequested);
  } catch (const TrainerError& error) {
    // The evaluator throws bad data on all ranks, so all of them can save.
    if (error.code() != ExitCode::kBadData) throw;
    EndUnread(error.what() + std::string(". The evaluation after step ") +
                  std::to_string(state_.step) + " needs these tokens",
              "");
  }
}

// Evaluates the model. Returns false if SIGTERM on some rank interrupted the evaluation.
bool TrainingLoop::Evaluate() {
  EnterPhase(Phase::kEval);
  const std::optional<std::vector<EvaluationResult>> results = RunEvaluator();
  if (!results.has_value()) return false;
  NoteResults(*results);
  for (const EvaluationResult& set : *results) {
    parts_.report.Evaluation(state_.step, set.name, set.loss, set.tokens);
  }
  EnterPhase(Phase::kTrain);
  return true;
}

// Stores these results as the latest evaluation. The checkpoints of this step and later steps
// contain these results.
void TrainingLoop::NoteResults(const std::vector<EvaluationResult>& results) {
  evaluated_step_ = state_.step;
  state_.evaluation = {state_.step, {}};
  for (const EvaluationResult& set : results) {
    if (std::isfinite(set.loss)) state_.evaluation.losses[set.name] = set.loss;
  }
  parts_.saver.NoteEvaluation(NoteEvaluation(state_.evaluation, BestSetOf(config_), state_.best));
}

bool TrainingLoop::IsDue(int64_t every_steps) const {
  return every_steps > 0 && state_.step % every_steps == 0;
}

}  // namespace trainyard::trainer
