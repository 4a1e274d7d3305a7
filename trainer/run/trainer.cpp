#include "trainer/run/trainer.h"

#include "proto/rules/attention_rules.h"
#include "proto/rules/fp8_products.h"
#include "trainer/checkpoint/fence.h"
#include "trainer/parallel/device/device.h"
#include "trainer/report/source_facts.h"
#include "trainer/start/shared_directory.h"
#include "trainer/step/model_options.h"

namespace trainyard::trainer {
namespace {

// Omits the random initialization of weights that are loaded from a checkpoint or received from a
// peer.
DecoderOptions OptionsOf(const RankSetup& setup) {
  const RuntimeEnvironment& env = setup.env;
  DecoderOptions options =
      ModelOptions(setup.config, setup.mesh, env.rank, setup.groups, setup.device);
  if (!env.resume_from.empty() || env.generation > 1) options.seed.reset();
  return options;
}

Interruption* InterruptionOf(Healing* healing) {
  return healing == nullptr ? nullptr : &healing->interruption();
}

}  // namespace

Trainer::Trainer(const RunConfig& config, const RuntimeEnvironment& env, TelemetryWriter& telemetry,
                 RankProgress& progress, Healing* healing)
    : setup_(config, env, telemetry, progress, InterruptionOf(healing)),
      clock_(setup_.device),
      samples_(setup_.config, env.skip_samples, setup_.mesh.DataParallelIndex(env.rank)),
      model_(setup_.config.model, OptionsOf(setup_)),
      optimizer_(setup_.config.optimizer, model_.parameters()),
      runner_({setup_.config, model_, optimizer_, setup_.groups, clock_, setup_.presence,
               setup_.device}),
      report_({setup_.config, setup_.env, setup_.device, samples_, telemetry, progress,
               setup_.report}) {
  CountWaits(setup_.groups, clock_);
  const auto note = [healing](const std::string& part, auto... end) {
    if (healing != nullptr) healing->NoteEnd(part, end...);
  };
  note("meet", setup_.met_at);
  note("connect", setup_.connected_at);
  note("model");
  ConnectRecovery(healing);
  setup_.CloseRendezvous();
  OpenEvaluator();
  Start();
  note("restore");
}

void Trainer::ConnectRecovery(Healing* healing) {
  if (healing == nullptr || setup_.rendezvous == nullptr) return;
  recovery_ =
      std::make_unique<Recovery>(Recovery::Parts{setup_.config, setup_.mesh, *healing, Target(),
                                                 setup_.device, setup_.telemetry, setup_.report});
}

void Trainer::OpenEvaluator() {
  if (setup_.config.evaluation.every_steps <= 0) return;
  evaluator_.emplace(setup_.config, runner_.pipeline(), setup_.groups,
                     setup_.mesh.DataParallelIndex(setup_.env.rank), setup_.device);
  evaluator_->CheckTokenizer(samples_.source().file(0));
}

ExpertBiases Trainer::Biases() {
  return {model_.expert_balance().bias, setup_.config.model.moe_dense_layers, setup_.env.rank == 0};
}

Fp8State Trainer::Fp8Histories() {
  if (model_.fp8() == nullptr) return {};
  return {&model_.fp8()->scaling(), setup_.env.rank == 0};
}

// After the loss of a peer, continues from the state in the gang's memory. Otherwise, starts the
// attempt.
void Trainer::Start() {
  std::optional<RestoredRun> restored;
  if (recovery_ != nullptr && setup_.env.generation > 1) restored = recovery_->Restore();
  const bool is_restored = restored.has_value();
  const ClaimedDirectory claim =
      ClaimDirectory(*setup_.groups.world, setup_.device, setup_.env, !is_restored);
  StartedAttempt attempt = is_restored ? restored->attempt : StartAttempt(setup_, Target());
  const TrainingState& state = attempt.state;
  samples_.Begin({state.step, state.samples, state.skip, state.spans});
  attempt.state.spans = samples_.source().spans();
  const bool has_missed_save = is_restored && recovery_->HasMissedSave(state);
  if (is_restored) {
    for (const ReportedStep& step : restored->unreported) report_.Repeat(step);
  }
  const std::string& checkpoint = attempt.start.resumed_from;
  saver_.emplace(setup_, FirstState{state.step, !is_restored && !checkpoint.empty(), checkpoint},
                 claim, [this] {
                   return CheckpointChunks(model_.parameters(), optimizer_, Biases(),
                                           Fp8Histories());
                 });
  if (has_missed_save) saver_->Request();
  if (!is_restored) PrintHeader(attempt.start);
  loop_.emplace(
      TrainingLoop::Parts{setup_, samples_, runner_, recovery_.get(),
                          evaluator_.has_value() ? &*evaluator_ : nullptr, report_, *saver_},
      attempt);
}

void Trainer::PrintHeader(const AttemptStart& start) {
  HeaderFacts facts;
  facts.device = DeviceName(setup_.device);
  facts.threads = setup_.threads;
  facts.attention = NameOf(setup_.config.train.attention_backend);
  facts.fp8 = DescribeFp8Products(setup_.config);
  facts.tensor_exchange = setup_.groups.tensor->Transport();
  facts.context_exchange = setup_.groups.context->Transport();
  facts.sources = FactsOfSources(setup_.config, samples_.source());
  facts.first_step = start.step;
  facts.resumed_from = start.resumed_from;
  report_.Header(facts, setup_.memory_warning);
  report_.DataSets();
}

// After the loss of a peer, all groups are aborted before the members of this object are destroyed.
ExitCode Trainer::Run() {
  try {
    return loop_->Run();
  } catch (const TrainerError& error) {
    if (error.code() == ExitCode::kPeerLost) setup_.AbortGroups();
    throw;
  }
}

void Trainer::PrepareToHeal() {
  WriteFlights();
  saver_->Drop(loop_->step());
}

}  // namespace trainyard::trainer
