#include "trainer/loop/recovery.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <utility>

#include "proto/contract/telemetry_keys.h"
#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/config/trainer_error.h"
#include "trainer/healing/state_parts.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

// The maximum fraction of a node's free memory that the snapshots of all its ranks may use.
constexpr double kMemoryShare = 0.8;

// The number of recent steps to remember. A device is at most one step ahead of its host. Therefore
// other ranks are fewer than kStepsRemembered steps ahead of rank 0's last reported step.
constexpr std::size_t kStepsRemembered = 3;

json ToJson(const std::deque<ReportedStep>& steps) {
  json list = json::array();
  for (const ReportedStep& step : steps) {
    list.push_back({step.step, step.loss, step.grad_norm, step.learning_rate, step.samples});
  }
  return list;
}

// JSON stores non-finite numbers as null. A skipped step can have non-finite numbers.
double NumberFromJson(const json& number) {
  return number.is_null() ? std::numeric_limits<double>::quiet_NaN() : number.get<double>();
}

std::deque<ReportedStep> StepsFromJson(const json& list) {
  std::deque<ReportedStep> steps;
  for (const json& step : list) {
    steps.push_back({step.at(0), NumberFromJson(step.at(1)), NumberFromJson(step.at(2)), step.at(3),
                     step.at(4)});
  }
  return steps;
}

// Returns the available memory of this host in bytes; 0 if unknown.
int64_t AvailableHostBytes() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  for (int64_t kib = 0; file >> key >> kib; std::getline(file, unit)) {
    if (key == "MemAvailable:") return kib * 1024;
  }
  return 0;
}

// Returns the state that every rank has. Undefined tensors are parts that the run does not have.
std::vector<torch::Tensor> OnEveryRank(const LoadTarget& target) {
  const Fp8Scaling* scaling = target.fp8.scaling;
  return {target.biases.values, scaling == nullptr ? torch::Tensor() : scaling->history()};
}

// Returns the pieces of the ward's state (Buddies) that are on this rank's device. Empty unless
// each rank and its ward have equal parameters.
std::vector<torch::Tensor> WardPieces(const Recovery::Parts& parts, const Buddies& buddies) {
  if (!buddies.have_equal_parameters()) return {};
  const int64_t ward = buddies.WardOf(parts.healing.env().rank);
  const auto part_of_ward = [&](ParameterKind kind) -> int64_t {
    const std::vector<int64_t>& alike = parts.target.groups.ShardOf(kind).ranks();
    return std::find(alike.begin(), alike.end(), ward) - alike.begin();
  };
  return StoredPieces(parts.target.parameters, *parts.target.optimizer, OnEveryRank(parts.target),
                      {part_of_ward(ParameterKind::kDense), part_of_ward(ParameterKind::kExpert)});
}

std::string RanksText(const std::vector<int64_t>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  return text;
}

}  // namespace

Recovery::Recovery(const Parts& parts)
    : parts_(parts),
      interruption_(parts.healing.interruption()),
      ranks_(*parts.target.groups.snapshots) {
  const Buddies buddies(parts.mesh, parts.config.layout, parts.healing.env().local_world_size);
  const ParameterStore& store = parts.target.parameters;
  keeper_ = std::make_unique<SnapshotKeeper>(SnapshotKeeper::Parts{
      parts.healing.memory(), ranks_, buddies,
      StoredPieces(store, *parts.target.optimizer, OnEveryRank(parts.target),
                   {store.parts().kept.dense.stored.index, store.parts().kept.expert.stored.index}),
      WardPieces(parts, buddies), parts.device});
}

std::optional<RestoredRun> Recovery::Restore() {
  const std::vector<HeldSteps> held = keeper_->HeldByAll();
  const bool is_new = std::all_of(held.begin(), held.end(), [](const HeldSteps& rank) {
    return rank.own.empty() && rank.ward.empty();
  });
  if (is_new) return std::nullopt;
  const RecoveryPlan plan = PlanRecovery(held, keeper_->buddies());
  if (plan.step < 0) {
    parts_.healing.Refuse();
    throw TrainerError(ExitCode::kPeerLost,
                       "No rank has the state of " + RanksText(plan.receivers) +
                           " in memory, so the job continues from its newest checkpoint.");
  }
  const json shared = keeper_->Restore(plan);
  ShareStoredParts(parts_.target);
  if (parts_.target.fp8.scaling != nullptr) parts_.target.fp8.scaling->Resume();
  start_ = {shared.at("first_step").get<int64_t>(), shared.at("resumed_from").get<std::string>()};
  newest_steps_ = StepsFromJson(shared.at("newest_steps"));
  RestoredRun run{{TrainingStateFromJson(shared.at("state")), start_}, {}};
  if (parts_.healing.env().rank == 0 && parts_.healing.IsReplacement()) {
    run.unreported.assign(newest_steps_.begin(), newest_steps_.end());
  }
  return run;
}

bool Recovery::HasMissedSave(const TrainingState& state) const {
  const int64_t every = parts_.config.checkpoint.every_steps;
  const int64_t due = every > 0 ? state.step / every * every : 0;
  const RuntimeEnvironment& env = parts_.healing.env();
  bool is_missed = false;
  if (env.rank == 0 && due > start_.step && due < state.step) {
    const auto newest = LatestCheckpoint(env.checkpoint_dir);
    is_missed = !newest.has_value() || newest->step < due;
  }
  return IsTrueOnAnyRank(is_missed);
}

// Checks the memory only in the first generation, because later generations reuse the memory
// reserved by the first generation.
void Recovery::Begin(const TrainingState& state, const AttemptStart& start) {
  start_ = start;
  if (parts_.healing.env().generation == 1) {
    const std::string shortage = MemoryShortage();
    if (IsTrueOnAnyRank(!shortage.empty())) return ReportHealingOff(state.step, shortage);
  }
  // Reserves the memory of later snapshots after the first snapshot, which must not wait for it.
  keeper_->TakeNow(state.step, ToJson(state));
  keeper_->Reserve();
  parts_.healing.NoteEnd("snapshot");
}

// `why` describes the lack of memory on this rank's node. `why` is empty if the node has enough
// memory.
void Recovery::ReportHealingOff(int64_t step, const std::string& why) {
  parts_.healing.Refuse();
  const std::string text =
      "If a rank is lost, the run will restart from a checkpoint, because it cannot heal in "
      "place: " +
      (why.empty() ? "a node has too little free memory" : why) + ".";
  parts_.report.Note(text);
  if (!why.empty()) parts_.telemetry.WriteAlert(step, telemetry::kHealingOff, text);
}

void Recovery::ReportHealed(int64_t step) {
  const std::string text = parts_.healing.TakeHealedText(step);
  if (text.empty()) return;
  parts_.report.Note(text);
  if (!parts_.healing.IsFirstSurvivor()) return;
  parts_.telemetry.WriteAlert(step, telemetry::kHealed, text);
}

std::string Recovery::MemoryShortage() const {
  const int64_t free_bytes = AvailableHostBytes();
  const int64_t bytes = keeper_->Bytes() * parts_.healing.env().local_world_size;
  if (free_bytes == 0 ||
      static_cast<double>(bytes) < kMemoryShare * static_cast<double>(free_bytes)) {
    return "";
  }
  return "snapshots of this node's ranks need " + std::to_string(bytes) +
         " bytes of host memory, but only " + std::to_string(free_bytes) + " are free";
}

bool Recovery::IsTrueOnAnyRank(bool what) const {
  return SumOverMembers(ranks_, {what ? 1.0 : 0.0}, parts_.device)[0] > 0;
}

json Recovery::ToJson(const TrainingState& state) const {
  return {{"state", TrainingStateToJson(state, parts_.config)},
          {"newest_steps", trainer::ToJson(newest_steps_)},
          {"first_step", start_.step},
          {"resumed_from", start_.resumed_from}};
}

void Recovery::BeforeLaunch(int64_t step) {
  if (is_on()) keeper_->BeforeLaunch(step);
}

void Recovery::AfterLaunch(int64_t step) {
  if (is_on()) keeper_->AfterLaunch(step);
}

void Recovery::BlockChanges() { keeper_->BlockChanges(); }

bool Recovery::CanBlockChanges() const { return keeper_->CanBlockChanges(); }

void Recovery::Confirm(const TrainingState& state, const StepResult& result, std::string samples) {
  ReportHealed(state.step);
  if (!is_on()) return;
  newest_steps_.push_back(
      {state.step, result.loss, result.grad_norm, result.learning_rate, std::move(samples)});
  if (newest_steps_.size() > kStepsRemembered) newest_steps_.pop_front();
  step_seconds_ = result.seconds;
  if (result.times.has_value() && parts_.device.is_cuda()) {
    keeper_->NoteDeviceWait(TimeOf(*result.times, StepPart::kCheckpointWait));
  }
  keeper_->Confirm(
      state.step, [&] { return ToJson(state); }, result.snapshot_cost);
}

double Recovery::TakeCost() { return is_on() ? keeper_->TakeCost(step_seconds_) : 0; }

MetricValues Recovery::SnapshotValues() const {
  if (!is_on()) return {};
  const SnapshotInterval& interval = keeper_->interval();
  return {{telemetry::kSnapshotInterval, static_cast<double>(interval.steps())},
          {telemetry::kSnapshotCost, interval.cost()}};
}

}  // namespace trainyard::trainer
