#include "controller/core/explain/run_advice.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "controller/core/explain/expert_advice.h"
#include "controller/core/schedule/layout_choice.h"
#include "controller/planner/cluster.h"
#include "controller/planner/device_rates.h"
#include "controller/planner/step_time.h"
#include "proto/contract/exit_code.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/model/model_size.h"
#include "re2/re2.h"

namespace trainyard::controller {
namespace {

using Findings = std::vector<planner::Finding>;

// The number of timed steps required before an attempt is judged. The first steps are slower,
// because they fill caches and GPU clocks rise during them.
constexpr std::size_t kStepsToJudge = 16;

// Returns the GPU model of the attempt's first rank. Returns nullptr for CPUs, and for GPUs whose
// rates are unknown.
const planner::DeviceSpec* DeviceSpecOf(const ClusterState& state, const v1::Attempt& attempt) {
  if (attempt.ranks().empty()) return nullptr;
  const v1::RankPlacement& rank = attempt.ranks(0);
  const auto node = state.nodes.find(rank.node_id());
  if (node == state.nodes.end()) return nullptr;
  const v1::Inventory& inventory = node->second.node.inventory();
  if (rank.slot() >= inventory.slots_size()) return nullptr;
  const v1::Slot& slot = inventory.slots(rank.slot());
  return slot.kind() == v1::DEVICE_KIND_GPU ? planner::FindDeviceSpec(slot.model()) : nullptr;
}

planner::StepWaits WaitsOf(const AttemptObservation& attempt, double seconds) {
  planner::StepWaits waits;
  const auto rank = attempt.ranks.find(attempt.reporting_rank);
  if (rank == attempt.ranks.end() || !rank->second.newest.has_step_time()) return waits;
  const v1::StepTime& parts = rank->second.newest.step_time();
  return {.step = seconds,
          .input = parts.input_wait(),
          .tensor = parts.tp_wait(),
          .context = parts.cp_wait(),
          .expert = parts.ep_wait(),
          .pipeline = parts.pp_wait(),
          .data = parts.dp_wait()};
}

void AddSlowness(const ClusterState& state, const AttemptObservation& observed,
                 const JobEntry& entry, Findings& findings) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  if (observed.step_times.size() < kStepsToJudge) return;
  const double seconds = observed.step_times.Pace();
  const RunConfig config = RunConfigOf(GrantedSpec(entry.job.spec(), attempt));
  const planner::DeviceSpec* device = DeviceSpecOf(state, attempt);
  planner::SpeedFacts facts{.waits = WaitsOf(observed, seconds)};
  if (device != nullptr && planner::PeakFlops(config.train.precision, *device) > 0) {
    const planner::Cluster cluster = {device, config.resources.nodes,
                                      config.resources.slots_per_node,
                                      *planner::FindNetwork(device->network)};
    const double tokens = static_cast<double>(config.train.global_batch) *
                          static_cast<double>(config.train.seq_length);
    const double peak = planner::PeakFlops(config.train.precision, *device) *
                        static_cast<double>(cluster.devices());
    facts.mfu =
        tokens / seconds * TrainingFlopsPerToken(config.model, config.train.seq_length) / peak;
    // The planner cannot predict the step time if the state is sharded over only a part of the
    // data-parallel ranks (zero_size).
    if (config.layout.zero_size == 0) {
      facts.expected = planner::PredictStep(config, cluster).Total() / seconds;
    }
  }
  const Findings slow = planner::FindSlowness(config, facts);
  findings.insert(findings.end(), slow.begin(), slow.end());
}

bool LackedMemory(const v1::Verdict& verdict) {
  return verdict.cause() == v1::VERDICT_CAUSE_OUT_OF_MEMORY ||
         planner::IsOutOfMemory(verdict.log_tail());
}

bool HadBadLoss(const v1::Verdict& verdict) {
  return verdict.cause() == v1::VERDICT_CAUSE_LOSS_NOT_FINITE ||
         verdict.exit_code() == static_cast<int>(ExitCode::kNotFinite);
}

planner::Finding AdviceOnMemory(const ClusterState& state, const JobEntry& entry,
                                const v1::Verdict& verdict) {
  if (!RunsOurTrainer(entry.job.spec())) {
    // PyTorch's message about missing GPU memory begins with the platform.
    static const RE2 kOfDevice(R"((?:CUDA|HIP|XPU) out of memory)");
    return planner::OutOfMemoryOfProgram(RE2::PartialMatch(verdict.log_tail(), kOfDevice));
  }
  const v1::Attempt* attempt = NewestAttempt(entry);
  const planner::DeviceSpec* device = attempt == nullptr ? nullptr : DeviceSpecOf(state, *attempt);
  const double bytes = device == nullptr ? 0 : static_cast<double>(device->rating->memory_bytes);
  return planner::OutOfMemory(RunConfigOf(entry.job.spec()), bytes);
}

void AddFailure(const ClusterState& state, const JobEntry& entry, const v1::Verdict& verdict,
                Findings& findings) {
  if (LackedMemory(verdict)) findings.push_back(AdviceOnMemory(state, entry, verdict));
  if (HadBadLoss(verdict))
    findings.push_back(planner::LossIsNotFinite(SpikeSettingsOf(entry.job.spec())));
}

}  // namespace

std::vector<planner::Finding> AdviceOn(const ClusterState& state, const Observations& observations,
                                       const JobEntry& entry) {
  Findings findings;
  const v1::Job& job = entry.job;
  const v1::Attempt* newest = NewestAttempt(entry);
  if (newest == nullptr) return findings;
  if (job.state() == v1::JOB_STATE_RUNNING) {
    const auto observed = observations.attempts.find({job.id(), newest->number()});
    const bool is_judged = RunsOurTrainer(job.spec()) && observed != observations.attempts.end();
    if (is_judged) AddSlowness(state, observed->second, entry, findings);
    if (observed != observations.attempts.end()) {
      const Findings experts = AdviceOnExperts(observed->second.experts.Problems(), job.spec());
      findings.insert(findings.end(), experts.begin(), experts.end());
    }
  } else if (job.state() != v1::JOB_STATE_SUCCEEDED && newest->has_verdict()) {
    AddFailure(state, entry, newest->verdict(), findings);
  }
  const bool has_spiked =
      !job.rollbacks().empty() ||
      (newest->has_verdict() && newest->verdict().cause() == v1::VERDICT_CAUSE_LOSS_SPIKE);
  if (has_spiked) findings.push_back(planner::LossSpikes(SpikeSettingsOf(job.spec())));
  return findings;
}

planner::SpikeSettings SpikeSettingsOf(const v1::JobSpec& spec) {
  planner::SpikeSettings settings{.skips_samples = spec.guard().policy() == v1::GUARD_POLICY_SKIP,
                                  .lowers_rate = spec.guard().policy() == v1::GUARD_POLICY_LOWER_LR,
                                  .skip_batches = spec.guard().skip_batches()};
  if (RunsOurTrainer(spec)) {
    settings.clip_grad = spec.optimizer().clip_grad();
    settings.lr = spec.optimizer().lr();
  }
  return settings;
}

}  // namespace trainyard::controller
