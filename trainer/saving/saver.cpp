#include "trainer/saving/saver.h"

#include <optional>
#include <utility>

#include "proto/model/model_fingerprint.h"
#include "proto/rules/evaluation_rules.h"
#include "trainer/checkpoint/rolled_back.h"
#include "trainer/process/signals.h"
#include "trainer/report/slow_save.h"

namespace trainyard::trainer {
namespace {

using Clock = std::chrono::steady_clock;

// The maximum time for which training waits for the previous save when a save is due. After that,
// training continues, and the save begins at the first step at which the writers of all ranks are
// idle.
constexpr std::chrono::milliseconds kSaveTimeout{2000};

CheckpointWriterOptions WriterOptions(const RankSetup& setup, const FirstState& first,
                                      const ClaimedDirectory& claim, CheckpointReport& report) {
  const RuntimeEnvironment& env = setup.env;
  const RunConfig& config = setup.config;
  CheckpointWriterOptions options;
  options.directory = env.checkpoint_dir;
  options.writer = WriterOf(env);
  options.claim = claim;
  options.rank = static_cast<int>(env.rank);
  options.world_size = static_cast<int>(env.world_size);
  options.model_fingerprint = ModelFingerprint(config.model);
  options.retention.keep_last = static_cast<int>(config.checkpoint.keep_last);
  options.retention.keep_every_steps = config.checkpoint.keep_every_steps;
  options.retention.keep_best = static_cast<int>(KeptBest(config.checkpoint));
  options.retention.rolled_back = ParseRolledBack(env.rolled_back);
  if (config.evaluation.every_steps > 0) options.retention.best_set = BestSetOf(config);
  options.resumed_from = first.resumed_from;
  options.on_event = [&report](const CheckpointEvent& event) { report.Report(event); };
  return options;
}

bool IsDue(int64_t every_steps, int64_t step) { return every_steps > 0 && step % every_steps == 0; }

}  // namespace

Saver::Saver(RankSetup& setup, const FirstState& first, const ClaimedDirectory& claim,
             ChunksFunction chunks)
    : setup_(setup),
      make_chunks_(std::move(chunks)),
      first_step_(first.step),
      saved_step_(first.is_saved ? first.step : -1),
      report_(setup.telemetry, setup.report, BestMetricOf(setup.config),
              setup.env.stop_grace_seconds),
      writer_(WriterOptions(setup, first, claim, report_)) {
  ReserveMemory();
}

// Reserves host memory for the snapshot, but only if a save will be due before the run ends.
void Saver::ReserveMemory() {
  const RunConfig& config = setup_.config;
  const auto is_due = [&](int64_t every) { return every > 0 && every < config.train.steps; };
  const bool saves_evaluated = config.checkpoint.always_save_checkpoint.has_value();
  if (is_due(config.checkpoint.every_steps) ||
      (saves_evaluated && is_due(config.evaluation.every_steps))) {
    writer_.Reserve(Chunks());
  }
}

const std::vector<TensorChunk>& Saver::Chunks() {
  if (chunks_.empty()) chunks_ = make_chunks_();
  return chunks_;
}

bool Saver::TakeRequest(int64_t step) {
  const bool is_asked = TakeSaveRequest();
  if (is_asked) request_step_ = step;
  return is_asked;
}

void Saver::NoteEvaluation(bool is_best) {
  const std::optional<bool>& always = setup_.config.checkpoint.always_save_checkpoint;
  if (always.has_value() && (*always || is_best)) Request();
}

bool Saver::MayBeginAt(int64_t step) const {
  return is_requested_ || is_pending_ || IsDue(setup_.config.checkpoint.every_steps, step);
}

void Saver::SaveIfDue(const TrainingState& state) {
  const bool is_requested = std::exchange(is_requested_, false);
  if (is_pending_) return BeginLate(state);
  if (!is_requested && !IsDue(setup_.config.checkpoint.every_steps, state.step)) return;
  is_pending_ = true;
  BeginDue(state);
}

void Saver::BeginDue(const TrainingState& state) {
  // The phase begins before the wait, because the wait delays training just as the save itself
  // does.
  EnterPhase(Phase::kCheckpoint, state.step);
  if (AreWritersIdle(kSaveTimeout)) return Save(state, SaveKind::kPeriodic);
  EnterPhase(Phase::kTrain, state.step);
  if (setup_.env.rank != 0) return;
  setup_.telemetry.WriteAlert(state.step, "checkpoint_late",
                              LateSaveText(setup_.env.checkpoint_dir, writer_.AwaitedRanks()));
}

// Begins a pending save once the writers are idle. Called after every step while a save is pending.
// Does not wait for the writers, so the check does not begin a phase.
void Saver::BeginLate(const TrainingState& state) {
  if (!AreWritersIdle(std::chrono::milliseconds(0))) return;
  EnterPhase(Phase::kCheckpoint, state.step);
  Save(state, SaveKind::kPeriodic);
}

// True if the writers of all ranks are idle after waiting at most read_timeout. All ranks get the
// same result, because they must save together.
bool Saver::AreWritersIdle(std::chrono::milliseconds read_timeout) {
  const auto start = Clock::now();
  const double busy = writer_.WaitUntilIdle(read_timeout) ? 0 : 1;
  const bool are_idle = SumOverMembers(*setup_.groups.world, {busy}, setup_.device)[0] == 0;
  wait_seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
  return are_idle;
}

// Must be called in phase kCheckpoint.
void Saver::Save(const TrainingState& state, SaveKind kind) {
  writer_.Save(state.step, TrainingStateToJson(state, setup_.config), Chunks(), kind,
               wait_seconds_);
  saved_step_ = state.step;
  is_pending_ = false;
  wait_seconds_ = 0;
  if (!setup_.config.checkpoint.async || kind == SaveKind::kFinal) writer_.Finish();
  if (kind == SaveKind::kPeriodic) EnterPhase(Phase::kTrain, state.step);
}

// True if a periodic save of the latest step has failed on some rank. All ranks get the same
// result, because they must save together.
bool Saver::HasLostNewest() {
  writer_.Finish();
  const double lost = writer_.HasLostSave() ? 1 : 0;
  return SumOverMembers(*setup_.groups.world, {lost}, setup_.device)[0] > 0;
}

void Saver::Finish(const TrainingState& state) {
  EnterPhase(Phase::kCheckpoint, state.step);
  const bool is_saved = saved_step_ == state.step;
  const bool began_here = is_saved && state.step == first_step_;
  if (!is_saved || (!began_here && HasLostNewest())) Save(state, SaveKind::kFinal);
  writer_.Finish();
}

void Saver::Drop(int64_t step) {
  if (is_requested_ || request_step_ > step) RepeatSaveRequest();
  writer_.Drop();
}

}  // namespace trainyard::trainer
