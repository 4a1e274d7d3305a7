#include "trainer/run/rank_run.h"

#include <torch/types.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "proto/contract/token_format.h"
#include "proto/model/model_size.h"
#include "trainer/checkpoint/checkpoint_writer.h"
#include "trainer/data/document_token.h"
#include "trainer/data/open_tokens.h"
#include "trainer/evaluation/evaluation_run.h"
#include "trainer/healing/healing.h"
#include "trainer/parallel/communicator.h"
#include "trainer/parallel/device/device.h"
#include "trainer/parallel/interruption/exit_deadline.h"
#include "trainer/parallel/interruption/lost_store.h"
#include "trainer/process/failure.h"
#include "trainer/process/signals.h"
#include "trainer/run/rehearsal.h"
#include "trainer/run/trainer.h"
#include "trainer/start/attention_choice.h"
#include "trainer/start/gang.h"
#include "trainer/start/start_check.h"
#include "trainer/telemetry/rank_progress.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {
namespace {

// Returns the time within which a rank must exit after the loss of a peer: the time for which the
// checkpoint writer of a save in flight waits for other ranks, plus 20 s for the work after the
// save. That work takes a few seconds, unless a CUDA call waits for a device that cannot be
// stopped.
std::chrono::milliseconds LeaveLimit() {
  constexpr std::chrono::seconds kReleaseOfDevice{20};
  const std::chrono::duration<double> save(CheckpointWriterOptions().peer_timeout_seconds);
  return std::chrono::ceil<std::chrono::milliseconds>(save) + kReleaseOfDevice;
}

RunConfig WithDocumentToken(RunConfig config) {
  config.data.eod_token = EndOfDocumentToken(config);
  return config;
}

// The maximum time for which the exit waits to write telemetry while the disk is full.
constexpr std::chrono::seconds kLastRecords{60};

// Telemetry and progress of one process.
struct Records {
  explicit Records(const RuntimeEnvironment& env) : telemetry(env.telemetry_path) {}
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;
  ~Records() { telemetry.WriteRest(kLastRecords); }

  TelemetryWriter telemetry;
  RankProgress progress{telemetry};
};

void ReportFailure(const RuntimeEnvironment& env, const std::exception& error,
                   const Failure& failure, Records& records) {
  records.progress.Write();
  if (const auto* of_gang = dynamic_cast<const GangError*>(&error)) {
    if (env.rank != 0) return;
    return records.telemetry.WriteAlert(of_gang->step(), of_gang->alert(), of_gang->what(),
                                        of_gang->samples());
  }
  records.telemetry.WriteAlert(records.progress.step(),
                               "exit_" + std::to_string(static_cast<int>(failure.code)),
                               failure.message);
}

// Waits, after the loss of a peer, for an order to continue. Returns nullopt if the run must end
// instead. Destroys the failed run before the wait, because the next run needs its device memory.
template <typename RunType>
std::optional<RuntimeEnvironment> Continue([[maybe_unused]] Healing* healing,
                                           [[maybe_unused]] std::unique_ptr<RunType>& run,
                                           [[maybe_unused]] Records& records) {
  if constexpr (std::is_same_v<RunType, Trainer>) {
    if (healing == nullptr || healing->is_refused()) return std::nullopt;
    healing->NoteLoss();
    if (run != nullptr) run->PrepareToHeal();
    run.reset();
    records.progress.EnterPhase(Phase::kHeal, records.progress.step());
    healing->NoteEnd("leave");
    std::optional<RuntimeEnvironment> next = healing->AwaitOrder(StopRequested);
    healing->NoteEnd("order");
    return next;
  }
  return std::nullopt;
}

// Constructs a run with `make` and runs it. Returns the exit code or, after a heal order, the
// environment with which to continue.
template <typename RunType>
std::variant<ExitCode, RuntimeEnvironment> RunOnce(
    const RunConfig& config, const RuntimeEnvironment& env, Records& records, Healing* healing,
    const std::function<std::unique_ptr<RunType>()>& make) {
  std::optional<ExitDeadline> leaving;  // Outlives the run, to limit its destructor's time.
  // Declared outside of the try block, because its destructor waits for the save in flight, and the
  // alert must be written before that wait.
  std::unique_ptr<RunType> run;
  try {
    run = make();
    return run->Run();
  } catch (const std::exception& error) {
    const Failure failure = FailureOf(error, &config);
    const bool is_loss = failure.code == ExitCode::kPeerLost;
    if (is_loss && config.resources.device == DeviceKind::kGpu) {
      leaving.emplace(failure.code, failure.message);
      leaving->Set(LeaveLimit());
    }
    if (is_loss && run != nullptr) run->WriteFlights();
    if (is_loss) {
      if (auto next = Continue(healing, run, records)) return *std::move(next);
    }
    ReportFailure(env, error, failure, records);
    if (dynamic_cast<const GangError*>(&error) != nullptr) throw;
    throw TrainerError(failure.code, failure.message);
  }
}

// Prepares a standby: loads libraries and kernels, checks the device, and maps the data.
void Warm(const RunConfig& config, const RuntimeEnvironment& env) {
  SetThreads(config, env);
  const torch::Device device = OpenDevice(config.resources.device, env.local_rank);
  CheckDevice(device);
  static_cast<void>(WithAttentionChosen(config));  // Plans that are made once stay in the process.
  WarmCommunication(device);
  try {
    // A first step without experts takes 0.15 s.
    if (HasExperts(config.model)) RehearseStep(config, device);
  } catch (const std::exception& error) {
    // The real first step takes longer, and reports any error that concerns the run.
    std::fprintf(stderr, "The standby process has not loaded all kernels: %s\n", error.what());
  }
  OpenTokens(config.data, token_format::kTrainSplit);
}

ExitCode Train(const RunConfig& config, RuntimeEnvironment env) {
  Records records(env);
  std::optional<Healing> healing;
  if (!env.heal_path.empty()) healing.emplace(env);
  if (healing.has_value()) StopThreadWhenStoreIsLost();
  if (env.is_standby) {
    DeferStop();
    Warm(config, env);
    records.progress.EnterPhase(Phase::kStandby, 0);
    const std::optional<RuntimeEnvironment> joined = healing->AwaitRank(StopRequested);
    if (!joined.has_value()) return ExitCode::kOk;
    healing->NoteLoss();
    env = *joined;
  }
  for (bool is_first = true;; is_first = false) {
    records.progress.SetGeneration(env.generation);
    if (is_first) records.progress.EnterPhase(Phase::kInit, 0);
    const auto end =
        RunOnce<Trainer>(config, env, records, healing.has_value() ? &*healing : nullptr, [&] {
          return std::make_unique<Trainer>(WithDocumentToken(config), env, records.telemetry,
                                           records.progress,
                                           healing.has_value() ? &*healing : nullptr);
        });
    if (const ExitCode* code = std::get_if<ExitCode>(&end)) return *code;
    env = std::get<RuntimeEnvironment>(end);
  }
}

ExitCode Evaluate(const RunConfig& config, const RuntimeEnvironment& env) {
  Records records(env);
  records.progress.EnterPhase(Phase::kInit, 0);
  return std::get<ExitCode>(RunOnce<EvaluationRun>(config, env, records, nullptr, [&] {
    return std::make_unique<EvaluationRun>(WithDocumentToken(config), env, records.telemetry,
                                           records.progress);
  }));
}

}  // namespace

ExitCode RunRank(const RunConfig& config, const RuntimeEnvironment& env) {
  return config.evaluation.only ? Evaluate(config, env) : Train(config, env);
}

}  // namespace trainyard::trainer
