#include "worker/core/process_launch.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "proto/contract/environment.h"
#include "proto/support/job_kind.h"
#include "worker/core/processes.h"

namespace trainyard::worker {
namespace {

namespace variable = trainyard::environment;

using Environment = std::map<std::string, std::string>;

constexpr char kDefaultPath[] = "/usr/local/bin:/usr/bin:/bin";

void AddTorchrunVariables(const v1::StartAttempt& attempt, const v1::Process& process,
                          Environment& environment) {
  const v1::ProcessRank& rank = process.ranks(0);
  // A standby's rank number is at or above the world size. Programs do not expect such a number, so
  // a standby gets 0.
  environment[variable::kRank] = absl::StrCat(process.standby() ? 0 : rank.rank());
  environment[variable::kWorldSize] = absl::StrCat(attempt.world_size());
  environment[variable::kLocalRank] = absl::StrCat(rank.local_rank());
  environment[variable::kLocalWorldSize] = absl::StrCat(RanksOf(attempt).size());
  environment[variable::kGroupRank] = absl::StrCat(attempt.node_rank());
  environment[variable::kGroupWorldSize] = absl::StrCat(attempt.node_count());
  environment[variable::kNodeRank] = absl::StrCat(attempt.node_rank());
  environment[variable::kMasterAddress] = attempt.master_address();
  environment[variable::kMasterPort] = absl::StrCat(attempt.master_port());
}

// A spec without torchrun_env comes from an older controller. With such a controller every rank
// gets the variables.
bool GetsTorchrunVariables(const v1::JobSpec& spec) {
  return ProgramRulesOf(spec).needs_torchrun_env || !spec.has_torchrun_env() || spec.torchrun_env();
}

std::vector<std::string> ArgumentsOf(const v1::JobSpec& spec, const LaunchSite& site) {
  switch (ProgramOf(spec)) {
    case JobProgram::kTrainer:
      return {site.trainer_program};
    case JobProgram::kData:
      return {site.data_program, "run", spec.pipeline()};
    case JobProgram::kCommand:
      break;
  }
  return {spec.command().begin(), spec.command().end()};
}

// Adds the job's own variables. TRAINYARD_* variables are set later and override the job's.
void AddJobVariables(const v1::JobSpec& spec, Environment& environment) {
  for (const auto& [name, value] : spec.env()) {
    if (!absl::StartsWith(name, variable::kReservedPrefix)) environment[name] = value;
  }
  for (const std::string& name : spec.unset_env()) environment.erase(name);
}

// Formats the factor with enough digits that the same number is read back. All attempts of a job
// thus use the same factor.
std::string FactorText(double factor) {
  return factor > 0 ? absl::StrFormat("%.17g", factor) : "1";
}

// Adds the variables for healing, but only for jobs with spares: without a spare, no process could
// replace a lost rank.
void AddHealVariables(const v1::StartAttempt& attempt, const v1::Process& process,
                      const LaunchSite& site, Environment& environment) {
  if (attempt.spec().restart().spares() == 0) return;
  environment[variable::kHeal] = site.heal_path;
  if (process.standby()) environment[variable::kStandby] = "1";
}

void AddTrainyardVariables(const v1::StartAttempt& attempt, const LaunchSite& site,
                           Environment& environment) {
  environment[variable::kJobId] = absl::StrCat(attempt.job_id());
  environment[variable::kJobName] = attempt.job_name();
  environment[variable::kAttempt] = absl::StrCat(attempt.attempt());
  environment[variable::kRunDir] = site.run_dir;
  if (!site.code_dir.empty()) environment[variable::kCodeDir] = site.code_dir;
  environment[variable::kSpec] = site.spec_path;
  environment[variable::kTelemetry] = site.telemetry_path;
  environment[variable::kCheckpointDir] = attempt.checkpoint_dir();
  environment[variable::kResumeFrom] = attempt.resume_from();
  environment[variable::kSkipSamples] = attempt.skip_samples();
  environment[variable::kLrFactor] = FactorText(attempt.lr_factor());
  environment[variable::kRolledBack] = attempt.rolled_back();
  environment[variable::kLiveJobs] = attempt.live_jobs();
}

// The only place that decides in which directory a rank runs.
std::string WorkingDirectoryOf(const v1::JobSpec& spec, const LaunchSite& site) {
  if (!spec.working_directory().empty()) return spec.working_directory();
  return site.code_dir.empty() ? site.run_dir : site.code_dir;
}

// Returns all GPUs of the attempt on this node in local-rank order. All ranks get the same list, so
// a program that selects cuda:LOCAL_RANK, as torchrun scripts do, uses its own slot, and NCCL can
// use peer access. Empty if the ranks run on CPU slots, which hides every GPU.
std::string VisibleDevices(const v1::StartAttempt& attempt, const v1::Inventory& inventory) {
  std::vector<std::pair<int, std::string>> devices;
  for (const v1::Process& process : attempt.processes()) {
    const int index = process.slots(0);
    if (index < 0 || index >= inventory.slots_size()) continue;
    const v1::Slot& slot = inventory.slots(index);
    if (slot.kind() != v1::DEVICE_KIND_GPU) continue;
    devices.emplace_back(process.ranks(0).local_rank(),
                         slot.uuid().empty() ? absl::StrCat(slot.index()) : slot.uuid());
  }
  std::sort(devices.begin(), devices.end());
  return absl::StrJoin(devices, ",",
                       [](std::string* out, const auto& device) { out->append(device.second); });
}

bool HasGpu(const v1::Inventory& inventory) {
  return std::any_of(inventory.slots().begin(), inventory.slots().end(),
                     [](const v1::Slot& slot) { return slot.kind() == v1::DEVICE_KIND_GPU; });
}

int ThreadsOfProcess(const v1::StartAttempt& attempt, const v1::Inventory& inventory) {
  if (attempt.spec().train().has_threads()) return attempt.spec().train().threads();
  return std::max(1, inventory.cpu_cores() / std::max(1, attempt.processes_size()));
}

}  // namespace

const std::vector<std::string>& PassedThroughVariables() {
  static const std::vector<std::string> names = {"PATH", "HOME",   "LANG",           "TZ",
                                                 "USER", "TMPDIR", "LD_LIBRARY_PATH"};
  return names;
}

ProcessLaunch MakeProcessLaunch(const v1::StartAttempt& attempt, const v1::Process& process,
                                const LaunchSite& site) {
  ProcessLaunch launch;
  const v1::JobSpec& spec = attempt.spec();
  launch.argv = ArgumentsOf(spec, site);
  launch.working_directory = WorkingDirectoryOf(spec, site);

  Environment& environment = launch.environment;
  environment["PATH"] = kDefaultPath;
  for (const std::string& name : PassedThroughVariables()) {
    const auto found = site.worker_environment.find(name);
    if (found != site.worker_environment.end()) environment[name] = found->second;
  }
  environment["OMP_NUM_THREADS"] = absl::StrCat(ThreadsOfProcess(attempt, site.inventory));
  // Output goes to a file. Without this variable, Python would buffer kilobytes of output.
  environment["PYTHONUNBUFFERED"] = "1";
  if (HasGpu(site.inventory)) {
    environment[variable::kCudaDevices] = VisibleDevices(attempt, site.inventory);
  }
  if (GetsTorchrunVariables(spec)) AddTorchrunVariables(attempt, process, environment);
  AddJobVariables(spec, environment);
  for (const auto& [name, value] : site.secrets) environment.erase(name);
  AddTrainyardVariables(attempt, site, environment);
  AddHealVariables(attempt, process, site, environment);
  launch.secrets = site.secrets;
  std::erase_if(launch.secrets,
                [&](const auto& secret) { return environment.contains(secret.first); });
  return launch;
}

}  // namespace trainyard::worker
