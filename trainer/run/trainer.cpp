#include "trainer/run/trainer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "proto/contract/attention_rules.h"
#include "proto/contract/evaluation_rules.h"
#include "proto/contract/model_size.h"
#include "proto/contract/run_rules.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/contract/token_format.h"
#include "proto/model/model_fingerprint.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/data/open_tokens.h"
#include "trainer/optimizer/schedule.h"
#include "trainer/parallel/device.h"
#include "trainer/process/signals.h"
#include "trainer/report/metric_values.h"
#include "trainer/report/slow_save.h"
#include "trainer/report/source_facts.h"
#include "trainer/report/step_time_values.h"
#include "trainer/start/attention_choice.h"
#include "trainer/start/gang.h"
#include "trainer/start/memory_check.h"
#include "trainer/start/shared_directory.h"
#include "trainer/step/model_options.h"

namespace trainyard::trainer {
namespace {

using Clock = std::chrono::steady_clock;

// Time limit for a due save to wait for the previous one. Afterwards training continues, and the
// save begins at the first step at which the writers of all ranks are idle.
constexpr std::chrono::milliseconds kSaveTimeout{2000};

// Steps launched ahead of the result the host waits for. The device never waits for the host, which
// reads each step's result while the next step runs.
constexpr int64_t kStepsAhead = 1;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

SampleSourceOptions TrainingOrder(const RunConfig& config, const RuntimeEnvironment& env) {
  SampleSourceOptions options;
  options.seq_length = config.train.seq_length;
  options.vocab_size = config.model.vocab_size;
  options.seed = config.data.seed;
  options.order = SampleOrder::kShuffled;
  options.skip = ParseSkipRanges(env.skip_samples);
  return options;
}

// Values loaded from a checkpoint or received from a peer need no random initialisation.
DecoderOptions WithoutUnusedSeed(DecoderOptions options, const RuntimeEnvironment& env) {
  if (!env.resume_from.empty() || env.generation > 1) options.seed.reset();
  return options;
}

Interruption* InterruptionOf(Healing* healing) {
  return healing == nullptr ? nullptr : &healing->interruption();
}

AttemptKey KeyOf(const RuntimeEnvironment& env) {
  return {env.job_id, env.attempt, env.generation};
}

}  // namespace

Trainer::Trainer(const RunConfig& config, const RuntimeEnvironment& env, TelemetryWriter& telemetry,
                 RankProgress& progress, Healing* healing)
    : env_(env),
      telemetry_(telemetry),
      progress_(progress),
      report_(env.rank == 0),
      mesh_(config.layout),
      threads_(SetThreads(config, env)),
      device_(OpenDevice(config.resources.device, env.local_rank)),
      config_(WithAttentionChosen(config)),
      memory_warning_(CheckMemory(config_, CurrentDeviceMemory(config.resources.device))),
      batches_(config_, mesh_.DataParallelIndex(env.rank)),
      spans_(SpansOf(config.train, config.schedule)),
      rendezvous_(Meet(config_, env, InterruptionOf(healing))),
      groups_(ConnectGroups(config, mesh_, env, rendezvous_.get(), device_)),
      stall_watch_(groups_, telemetry),
      clock_(device_),
      train_source_(OpenTokens(config.data, token_format::kTrainSplit), TrainingOrder(config, env)),
      model_(config.model,
             WithoutUnusedSeed(ModelOptions(config_, mesh_, env.rank, groups_, device_), env)),
      optimizer_(config.optimizer, model_.parameters()),
      runner_({config_, model_, optimizer_, groups_, clock_, device_}),
      checkpoint_report_(telemetry, report_, BestMetricOf(config_), env.stop_grace_seconds) {
  CountWaits(groups_, clock_);
  if (healing != nullptr && rendezvous_ != nullptr) {
    recovery_ =
        std::make_unique<Recovery>(Recovery::Parts{config_,
                                                   mesh_,
                                                   *healing,
                                                   {model_.parameters(), &optimizer_, groups_},
                                                   *rendezvous_,
                                                   device_,
                                                   telemetry_,
                                                   report_});
  }
  CloseRendezvous();
  if (config_.evaluation.every_steps > 0) {
    evaluator_.emplace(config_, runner_.pipeline(), groups_, mesh_.DataParallelIndex(env_.rank),
                       device_);
    evaluator_->CheckTokenizer(train_source_.file(0));
  }
  state_.skip = ParseSkipRanges(env_.skip_samples);
  std::optional<RestoredRun> restored;
  if (recovery_ != nullptr && env_.generation > 1) restored = recovery_->Restore();
  claim_ = ClaimDirectory(*groups_.world, device_, env_, !restored.has_value());
  restored.has_value() ? ContinueFrom(*restored) : Start();
  OpenCheckpoints();
  if (!restored.has_value()) PrintHeader(start_.resumed_from);
}

// The store is unused once the groups are connected. Without it the death of rank 0's process is an
// ordinary peer loss.
void Trainer::CloseRendezvous() {
  if (rendezvous_ == nullptr) return;
  groups_.world->Barrier();
  rendezvous_.reset();
}

// Starts from a checkpoint or from random weights.
void Trainer::Start() {
  start_.resumed_from = ChooseStart();
  if (!start_.resumed_from.empty()) {
    Resume(start_.resumed_from);
  } else if (env_.generation > 1) {
    model_.parameters().Initialise(config_.train.seed);
  }
  start_.step = state_.step;
  if (env_.rank == 0) CheckOverwritesNone(env_.checkpoint_dir, env_.job_id, state_.step);
}

void Trainer::ContinueFrom(const RestoredRun& run) {
  start_ = run.start;
  state_ = run.state;
  first_step_ = launched_ = state_.step;
  batches_.Begin(first_step_, state_.samples);
  train_source_.SetSkip(state_.skip);
  save_asked_ = recovery_->HasMissedSave(state_);
  for (const ReportedStep& step : run.unreported) ReportAgain(step);
}

// Reports a step that the previous process may not have reported. A second record of the same step
// has the same values.
void Trainer::ReportAgain(const ReportedStep& step) {
  const int64_t every = config_.train.log_every_steps;
  const bool is_reported =
      every > 0 && (step.step % every == 0 || step.step == config_.train.steps);
  if (!is_reported) return;
  telemetry_.WriteMetrics(step.step, config_.train.steps,
                          LossValues(step.loss, step.grad_norm, step.learning_rate), step.samples);
}

Trainer::~Trainer() = default;

// Chooses the checkpoint to start from. Rank 0, which raised the fence, chooses for all ranks: no
// older attempt can publish meanwhile, and every rank loads the same checkpoint.
std::string Trainer::ChooseStart() {
  if (env_.resume_from.empty()) return "";
  constexpr double kAsNamed = -1;
  double step = 0;
  if (env_.rank == 0) {
    const StartingPoint start = FindStartingPoint(env_.resume_from, env_.checkpoint_dir,
                                                  env_.job_id, ParseRolledBack(env_.rolled_back));
    step = start.instead.empty() ? kAsNamed : static_cast<double>(start.instead.back().step);
    ReportStart(start);
  }
  step = SumOverMembers(*groups_.world, {step}, device_)[0];
  const std::string path =
      step == kAsNamed ? env_.resume_from
                       : env_.checkpoint_dir + "/" + StepDirectoryName(static_cast<int64_t>(step));
  CheckAllSeeCheckpoint(*groups_.world, device_, env_, path);
  return path;
}

// Reports all checkpoints of the job if the named one is gone: the controller missed some of the
// reports, and a later attempt needs these checkpoints as fallbacks.
void Trainer::ReportStart(const StartingPoint& start) {
  if (start.instead.empty()) return;
  for (const PublishedCheckpoint& known : start.instead) {
    const std::optional<double> loss = known.evaluation.LossOn(BestSetOf(config_));
    telemetry_.WriteCheckpoint({.step = known.step,
                                .attempt = known.attempt.number,
                                .path = known.path,
                                .bytes = known.bytes,
                                .metric = loss.has_value() ? BestMetricOf(config_) : "",
                                .metric_value = loss.value_or(0)});
  }
  report_.Note("checkpoint " + env_.resume_from + " is gone; " + start.path +
               " is the newest of this job");
}

void Trainer::Resume(const std::string& checkpoint) {
  EnterPhase(Phase::kLoad);
  const CheckpointReader reader(checkpoint);
  state_ = LoadCheckpoint(reader, config_, {model_.parameters(), &optimizer_, groups_});
  KeepJudging(reader);
  first_step_ = saved_step_ = launched_ = state_.step;
  batches_.Begin(first_step_, state_.samples);
  const std::vector<SkipRange> given = ParseSkipRanges(env_.skip_samples);
  state_.skip = ResumedSkipRanges(reader.trainer_state(), given);
  train_source_.SetSkip(state_.skip);
  for (const std::string& change : DataOrderChanges(reader.trainer_state(), config_, given)) {
    report_.Note(change);
  }
}

// Evaluation results of other jobs do not apply. A newly compared set starts from its latest loss.
void Trainer::KeepJudging(const CheckpointReader& reader) {
  if (reader.manifest().attempt.job_id != env_.job_id) {
    state_.evaluation = {};
    state_.best = {};
  }
  const std::string set = BestSetOf(config_);
  if (state_.best.set != set) NoteEvaluation(state_.evaluation, set, state_.best = {});
}

void Trainer::OpenCheckpoints() {
  CheckpointWriterOptions options;
  options.directory = env_.checkpoint_dir;
  options.attempt = KeyOf(env_);
  options.claim = claim_;
  options.rank = static_cast<int>(env_.rank);
  options.world_size = static_cast<int>(env_.world_size);
  options.model_fingerprint = ModelFingerprint(config_.model);
  options.retention.keep_last = static_cast<int>(config_.checkpoint.keep_last);
  options.retention.keep_every_steps = config_.checkpoint.keep_every_steps;
  options.retention.keep_best = static_cast<int>(KeptBest(config_.checkpoint));
  options.retention.rolled_back = ParseRolledBack(env_.rolled_back);
  if (evaluator_) options.retention.best_set = BestSetOf(config_);
  options.resumed_from = start_.resumed_from;
  options.on_event = [this](const CheckpointEvent& event) { checkpoint_report_.Report(event); };
  checkpoints_ = std::make_unique<CheckpointWriter>(std::move(options));
  // Memory is reserved now only if a save is due before the end.
  const auto is_due = [&](int64_t every) { return every > 0 && every < config_.train.steps; };
  const bool saves_evaluated = config_.checkpoint.always_save_checkpoint.has_value();
  if (is_due(config_.checkpoint.every_steps) ||
      (saves_evaluated && is_due(config_.evaluation.every_steps))) {
    checkpoints_->Reserve(Chunks());
  }
}

void Trainer::PrintHeader(const std::string& resumed_from) {
  HeaderFacts facts;
  facts.device = DeviceName(device_);
  facts.threads = threads_;
  facts.attention = NameOf(config_.train.attention_backend);
  facts.sources = FactsOfSources(config_, train_source_);
  facts.first_step = first_step_;
  facts.resumed_from = resumed_from;
  report_.Header(config_, env_, facts);
  if (memory_warning_.empty()) return;
  report_.Note(memory_warning_);
  telemetry_.WriteAlert(first_step_, "memory_tight", memory_warning_);
}

void Trainer::StartPrefetch() {
  prefetcher_ = std::make_unique<Prefetcher>(
      train_source_, [this](int64_t batch) { return batches_.SamplesOf(batch); }, 0);
}

// On a lost peer, aborts the operations of all groups before the members are destroyed.
ExitCode Trainer::Run() {
  try {
    return TrainToTheEnd();
  } catch (const TrainerError& error) {
    if (error.code() == ExitCode::kPeerLost) {
      ForEachGroup(groups_, [](Communicator& group) { group.Abort(); });
      if (recovery_ != nullptr) recovery_->Abort();
    }
    throw;
  }
}

void Trainer::PrepareToHeal() {
  WriteFlights();
  if (save_asked_ || save_passed_on_ > state_.step) RepeatSaveRequest();
  if (checkpoints_ != nullptr) checkpoints_->Drop();
}

ExitCode Trainer::TrainToTheEnd() {
  start_time_ = Clock::now();
  DeferStop();
  StartPrefetch();
  if (recovery_ != nullptr) recovery_->Begin(state_, start_);
  EnterPhase(Phase::kTrain);
  const bool continues = env_.generation > 1 && state_.step > start_.step;
  if (continues && !AfterStep()) return Finish(ExitCode::kTerminated);
  while (state_.step < config_.train.steps) {
    if (launched_ < config_.train.steps && !stop_) LaunchStep();
    const bool pauses = stop_ || save_asked_ || IsPauseDue();
    while (runner_.pending() > (pauses ? 0 : kStepsAhead)) FinishStep();
    if (stop_ && runner_.pending() == 0) return Finish(ExitCode::kTerminated);
    if (runner_.pending() > 0) continue;
    if (!AfterStep()) return Finish(ExitCode::kTerminated);
  }
  const bool is_evaluated = !evaluator_ || evaluated_step_ == state_.step;
  if (!is_evaluated && !Evaluate()) return Finish(ExitCode::kTerminated);
  return Finish(ExitCode::kOk);
}

// Runs the evaluation and save due after the latest step. Returns false if a stop interrupted it.
bool Trainer::AfterStep() {
  if (IsDue(config_.evaluation.every_steps) && !Evaluate()) return false;
  if (state_.step < config_.train.steps) SaveIfDue();
  return true;
}

// True if the host must wait for the latest launched step before launching another, because the
// following work needs the weights of that step. On a CPU the step is complete when Launch returns.
bool Trainer::IsPauseDue() const {
  const auto is_due = [this](int64_t every) { return every > 0 && launched_ % every == 0; };
  return !device_.is_cuda() || launched_ == config_.train.steps || save_due_since_ >= 0 ||
         is_due(config_.evaluation.every_steps) || is_due(config_.checkpoint.every_steps);
}

void Trainer::LaunchStep() {
  const int64_t step = launched_ + 1;
  if (recovery_ != nullptr) recovery_->BeforeLaunch(step);
  const StepRequest request{
      .step = step,
      .rounds = batches_.RoundsOf(step),
      .learning_rate = env_.lr_factor * LearningRate(config_.schedule, config_.optimizer, spans_,
                                                     batches_.plan().SamplesThrough(step)),
      .stop = StopRequested(),
      .save = TakeSaveRequest(),
      .measure = IsMeasurementDue(),
      .snapshot_cost = recovery_ == nullptr ? 0 : recovery_->TakeCost(),
      .part_norms = config_.train.gradient_log_interval > 0 &&
                    step % config_.train.gradient_log_interval == 0};
  if (request.save) save_passed_on_ = step;
  runner_.Launch(
      request, [this] { return prefetcher_->Next(); },
      [this] {
        checkpoints_->BlockChanges();
        if (recovery_ != nullptr) recovery_->BlockChanges();
      });
  ++launched_;
  if (recovery_ != nullptr) recovery_->AfterLaunch(launched_);
}

// Device time marks cost some microseconds each, so at most one step per second is measured.
bool Trainer::IsMeasurementDue() {
  const Clock::time_point now = Clock::now();
  if (now - measured_ < std::chrono::seconds(1)) return false;
  measured_ = now;
  return true;
}

void Trainer::NoteTimes(const StepResult& result) {
  if (!result.times.has_value()) return;
  interval_.step_times = StepTimeValues(*result.times);
  progress_.NoteStepTimes(interval_.step_times);
}

void Trainer::FinishStep() {
  const StepResult result = runner_.Finish();
  if (recovery_ != nullptr) recovery_->Check();  // The result of an aborted step is useless.
  CheckFinite(result);
  ++state_.step;
  const int64_t samples = batches_.plan().OfStep(state_.step).count;
  state_.samples += samples;
  state_.tokens += samples * config_.train.seq_length;
  interval_.samples += samples;
  stop_ = stop_ || result.stop;
  save_asked_ = save_asked_ || result.save;
  ++interval_.steps;
  interval_.seconds += result.seconds;
  NoteTimes(result);
  if (result.batches.has_value()) state_.noise.Add(EstimateNoise(*result.batches));
  if (recovery_ != nullptr) {
    recovery_->Confirm(state_, result,
                       PositionsOf(state_.samples - interval_.samples, state_.samples));
  }
  progress_.Step(state_.step, result.seconds, prefetcher_->stall_seconds());
  if (progress_.IsDue()) progress_.Write(PeakMemoryBytes(device_));
  LogPartNorms(result);
  const bool last = state_.step == config_.train.steps;
  if (last || stop_ || IsDue(config_.train.log_every_steps)) Log(result);
}

// Samples `first` to `end` - 1 as a range of positions, in the format of TRAINYARD_SKIP_SAMPLES.
// Already skipped samples make positions larger than sample numbers, and the range may include some
// of them.
std::string Trainer::PositionsOf(int64_t first, int64_t end) const {
  return std::to_string(train_source_.PositionOf(first)) + ":" +
         std::to_string(train_source_.PositionOf(end - 1) + 1);
}

std::string Trainer::PositionsOfStep() const {
  return PositionsOf(state_.samples,
                     state_.samples + batches_.plan().OfStep(state_.step + 1).count);
}

// Waits for all launched steps. Members of a group queue a step before they read the result of the
// previous one, so a rank that exited earlier would look like a lost peer.
void Trainer::AwaitLaunchedSteps() {
  try {
    while (runner_.pending() > 0) runner_.Finish();
  } catch (const TrainerError& error) {
    // The caller is about to throw its own error. With healing, though, a lost peer may be the
    // reason for the bad numbers.
    if (recovery_ != nullptr && error.code() == ExitCode::kPeerLost) throw;
  }
}

void Trainer::CheckFinite(const StepResult& result) {
  if (result.is_finite) return;
  AwaitLaunchedSteps();
  if (recovery_ != nullptr) recovery_->CheckAfterWait();
  const bool loss_is_bad = !std::isfinite(result.loss);
  const std::string what = loss_is_bad ? "The loss" : "The gradient norm";
  const std::string message =
      what + " of step " + std::to_string(result.step) + " is not finite (loss " +
      std::to_string(result.loss) + ", gradient norm " + std::to_string(result.grad_norm) +
      "). Resume from an earlier checkpoint with a lower learning rate, or without the samples of "
      "this step: TRAINYARD_SKIP_SAMPLES=" +
      PositionsOfStep() + ".";
  throw GangError(ExitCode::kNotFinite, message,
                  loss_is_bad ? telemetry::kNanLoss : telemetry::kNanGradient, result.step,
                  PositionsOfStep());
}

StepReport Trainer::ReportOf(const StepResult& result) const {
  StepReport report;
  report.step = state_.step;
  report.loss = result.loss;
  report.grad_norm = result.grad_norm;
  report.learning_rate = result.learning_rate;
  report.step_seconds = interval_.seconds / static_cast<double>(interval_.steps);
  report.samples_per_second = static_cast<double>(interval_.samples) / interval_.seconds;
  report.tokens_per_second =
      report.samples_per_second * static_cast<double>(config_.train.seq_length);
  const int64_t samples_left = batches_.plan().SamplesThrough(config_.train.steps) -
                               batches_.plan().SamplesThrough(state_.step);
  report.seconds_left = static_cast<double>(samples_left) / report.samples_per_second;
  const double peak = PeakFlops(DeviceName(device_), config_.train.precision);
  if (peak > 0) {
    const double rate = report.tokens_per_second / (peak * static_cast<double>(env_.world_size));
    const int64_t length = config_.train.seq_length;
    report.mfu = rate * TrainingFlopsPerToken(config_.model, length);
    report.mfu_causal = rate * CausalTrainingFlopsPerToken(config_.model, length);
  }
  return report;
}

void Trainer::Log(const StepResult& result) {
  const StepReport report = ReportOf(result);
  const double stall = prefetcher_->stall_seconds();
  MetricValues values = MainValues(report);
  values.insert(values.end(),
                {{telemetry::kDataStallSeconds, stall - interval_.stall_seconds_before},
                 {telemetry::kTokens, static_cast<double>(state_.tokens)},
                 {telemetry::kMemoryBytes, static_cast<double>(PeakMemoryBytes(device_))}});
  if (!std::exchange(has_logged_, true)) {
    values.emplace_back(telemetry::kAttentionBackend,
                        static_cast<double>(config_.train.attention_backend));
  }
  if (config_.optimizer.adaptive_clip > 0) {
    values.emplace_back(telemetry::kClippedUnits, static_cast<double>(result.clipped_units));
  }
  if (recovery_ != nullptr && recovery_->is_on()) {
    values.emplace_back(telemetry::kSnapshotInterval, recovery_->interval().steps());
    values.emplace_back(telemetry::kSnapshotCost, recovery_->interval().cost());
  }
  for (const MetricValues& more :
       {interval_.step_times, PassValues(config_, train_source_, state_.samples),
        NoiseValues(result.batches, state_.noise)}) {
    values.insert(values.end(), more.begin(), more.end());
  }
  if (env_.rank == 0) {
    telemetry_.WriteMetrics(state_.step, config_.train.steps, values,
                            PositionsOf(state_.samples - interval_.samples, state_.samples));
  }
  report_.Step(report, config_.train.steps);
  interval_ = {.stall_seconds_before = stall};
}

// Separate records: they may be due at other steps, and their size grows with the model.
void Trainer::LogPartNorms(const StepResult& result) {
  if (env_.rank != 0 || result.part_norms.empty()) return;
  for (const MetricValues& values : PartNormRecords(config_.model, result.part_norms)) {
    telemetry_.WriteMetrics(state_.step, config_.train.steps, values);
  }
}

// Returns false if SIGTERM on some rank interrupted it.
bool Trainer::Evaluate() {
  EnterPhase(Phase::kEval);
  const std::optional<std::vector<EvaluationResult>> results = evaluator_->Run(StopRequested);
  if (!results.has_value()) return false;
  NoteResults(*results);
  for (const EvaluationResult& set : *results) {
    if (env_.rank == 0) telemetry_.WriteEvaluation(state_.step, set.name, set.loss, set.tokens);
    report_.Evaluation(state_.step, set.name, set.loss, set.tokens);
  }
  EnterPhase(Phase::kTrain);
  return true;
}

// Records the evaluation that checkpoints of this and later steps refer to.
void Trainer::NoteResults(const std::vector<EvaluationResult>& results) {
  evaluated_step_ = state_.step;
  state_.evaluation = {state_.step, {}};
  for (const EvaluationResult& set : results) {
    if (std::isfinite(set.loss)) state_.evaluation.losses[set.name] = set.loss;
  }
  const bool is_best = NoteEvaluation(state_.evaluation, BestSetOf(config_), state_.best);
  const std::optional<bool>& always = config_.checkpoint.always_save_checkpoint;
  if (always.has_value()) save_asked_ = save_asked_ || *always || is_best;
}

void Trainer::SaveIfDue() {
  const bool asked_for = std::exchange(save_asked_, false);
  if (save_due_since_ >= 0) return BeginLateSave();
  if (!asked_for && !IsDue(config_.checkpoint.every_steps)) return;
  save_due_since_ = state_.step;
  BeginDueSave();
}

void Trainer::BeginDueSave() {
  // The phase begins before the wait, because the wait delays training like the save.
  EnterPhase(Phase::kCheckpoint);
  if (MaySave(kSaveTimeout)) return Save(SaveKind::kPeriodic);
  EnterPhase(Phase::kTrain);
  if (env_.rank != 0) return;
  telemetry_.WriteAlert(state_.step, "checkpoint_late",
                        LateSaveText(env_.checkpoint_dir, checkpoints_->AwaitedRanks()));
}

// Called after every step; does not block, so it is not reported as a phase.
void Trainer::BeginLateSave() {
  if (!MaySave(std::chrono::milliseconds(0))) return;
  EnterPhase(Phase::kCheckpoint);
  Save(SaveKind::kPeriodic);
}

// True if the writers of all ranks are idle. The result is the same on every rank, because all
// ranks must save together.
bool Trainer::MaySave(std::chrono::milliseconds read_timeout) {
  const auto start = Clock::now();
  const double busy = checkpoints_->WaitUntilIdle(read_timeout) ? 0 : 1;
  const bool all_are_idle = SumOverMembers(*groups_.world, {busy}, device_)[0] == 0;
  save_wait_seconds_ += SecondsSince(start);
  return all_are_idle;
}

std::vector<TensorChunk> Trainer::Chunks() {
  return CheckpointChunks(model_.parameters(), optimizer_);
}

// Call in phase checkpoint.
void Trainer::Save(SaveKind kind) {
  checkpoints_->Save(state_.step, TrainingStateToJson(state_, config_), Chunks(), kind,
                     save_wait_seconds_);
  saved_step_ = state_.step;
  save_due_since_ = -1;
  save_wait_seconds_ = 0;
  if (!config_.checkpoint.async || kind == SaveKind::kFinal) checkpoints_->Finish();
  if (kind == SaveKind::kPeriodic) EnterPhase(Phase::kTrain);
}

// True if a periodic save of the latest step failed on some rank. The result is the same on every
// rank, because all ranks must save together.
bool Trainer::HasLostNewestSave() {
  checkpoints_->Finish();
  const double lost = checkpoints_->HasLostSave() ? 1 : 0;
  return SumOverMembers(*groups_.world, {lost}, device_)[0] > 0;
}

ExitCode Trainer::Finish(ExitCode code) {
  EnterPhase(Phase::kCheckpoint);
  const bool is_saved = saved_step_ == state_.step;
  const bool began_here = is_saved && state_.step == first_step_;
  if (!is_saved || (!began_here && HasLostNewestSave())) Save(SaveKind::kFinal);
  checkpoints_->Finish();
  report_.Summary(state_.step, SecondsSince(start_time_));
  EnterPhase(Phase::kDone);
  return code;
}

void Trainer::EnterPhase(Phase phase) { progress_.EnterPhase(phase, state_.step); }

bool Trainer::IsDue(int64_t every_steps) const {
  return every_steps > 0 && state_.step % every_steps == 0;
}

}  // namespace trainyard::trainer
