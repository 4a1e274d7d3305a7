#include "worker/core/process_launch.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "proto/contract/environment.h"
#include "proto/support/job_kind.h"
#include "proto/text/variable_text.h"
#include "worker/core/environment_options.h"
#include "worker/core/processes.h"

namespace trainyard::worker {
namespace {

namespace variable = trainyard::environment;

using Environment = std::map<std::string, std::string>;

// An interactive shell. A container may have no bash.
constexpr char kShellScript[] = "if command -v bash >/dev/null 2>&1; then exec bash; fi; exec sh";
constexpr char kDefaultPath[] = "/usr/local/bin:/usr/bin:/bin";

// Makes Gloo and NCCL use the interface with the address at which other nodes reach this node. Gloo
// would otherwise use the address of the host name, which is 127.0.1.1 on Debian. NCCL could choose
// the interface of a bridge or a container.
void AddNetworkVariables(const LaunchSite& site, Environment& environment) {
  if (site.network_interface.empty()) return;
  environment[variable::kGlooInterface] = site.network_interface;
  // NCCL takes a name without "=" as a prefix.
  environment[variable::kNcclInterface] = absl::StrCat("=", site.network_interface);
}

// Adds the variables by which a launcher finds the launchers on other nodes. It sets RANK and other
// variables itself for each rank that it starts.
void AddLauncherVariables(const v1::StartAttempt& attempt, const v1::Process& process,
                          Environment& environment) {
  const int ranks = process.ranks_size();
  const std::pair<const char*, std::string> options[] = {
      {variable::kNodes, absl::StrCat(attempt.world_size() / ranks)},
      {variable::kNodeRank, absl::StrCat(process.ranks(0).rank() / ranks)},
      {variable::kProcessesPerNode, absl::StrCat(ranks)},
      {variable::kMasterAddress, attempt.master_address()},
      {variable::kMasterPort, absl::StrCat(attempt.master_port())}};
  for (const auto& [name, value] : options) {
    environment[name] = value;
    environment[absl::StrCat(variable::kTorchrunOptionPrefix, name)] = value;
  }
}

// Adds the variables that torchrun sets for each rank.
void AddRankVariables(const v1::StartAttempt& attempt, const v1::Process& process,
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
  environment[variable::kRoleRank] = environment[variable::kRank];
  environment[variable::kRoleWorldSize] = environment[variable::kWorldSize];
  environment[variable::kRoleName] = "default";
  environment[variable::kRestartCount] = absl::StrCat(attempt.attempt() - 1);
  environment[variable::kMaxRestarts] = absl::StrCat(attempt.spec().restart().max_restarts());
  environment[variable::kRunId] = absl::StrCat("trainyard-", attempt.job_id());
  environment[variable::kUseAgentStore] = "False";
}

void AddTorchrunVariables(const v1::StartAttempt& attempt, const v1::Process& process,
                          const LaunchSite& site, Environment& environment) {
  environment[variable::kErrorFile] = site.error_path;
  AddNetworkVariables(site, environment);
  if (IsLauncher(process)) return AddLauncherVariables(attempt, process, environment);
  AddRankVariables(attempt, process, environment);
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

// The variables that `${NAME}` in a value of the job's `env` can name. A variable of the rank
// precedes a variable of the worker. Other entries of `env` and secrets cannot be named.
struct NamedVariables {
  const Environment& trainyard;  // The rank's TRAINYARD_* variables.
  const Environment& inherited;  // The rank's other variables, without those of the job.
  const Environment& worker;     // The environment of the worker.

  std::optional<std::string> Find(std::string_view name) const {
    for (const Environment* variables : {&trainyard, &inherited, &worker}) {
      // The worker's own TRAINYARD_* variables configure the worker.
      if (variables == &worker && name.starts_with(variable::kReservedPrefix)) break;
      const auto found = variables->find(std::string(name));
      if (found != variables->end()) return found->second;
    }
    return std::nullopt;
  }
};

// Adds the job's own variables. TRAINYARD_* variables are set later and override the job's. Returns
// the reason why a value is unknown on this node; empty if there is none.
std::string AddJobVariables(const v1::JobSpec& spec, const NamedVariables& named,
                            Environment& environment) {
  std::string problem;
  for (const auto& [name, value] : spec.env()) {
    if (absl::StartsWith(name, variable::kReservedPrefix)) continue;
    ExpandedText expanded =
        ExpandVariables(value, [&](std::string_view used) { return named.Find(used); });
    if (problem.empty() && !expanded.problem.empty()) {
      problem = absl::StrCat("`env.", name, "` has no value on this node: ", expanded.problem,
                             "; set the variable for the worker, or write `${NAME:-DEFAULT}`");
    }
    environment[name] = std::move(expanded.text);
  }
  for (const std::string& name : spec.unset_env()) environment.erase(name);
  return problem;
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

// Adds the process's GPUs to `devices`, each with its local rank.
void AddDevices(const v1::Process& process, const v1::Inventory& inventory,
                std::vector<std::pair<int, std::string>>& devices) {
  for (int i = 0; i < process.slots_size(); ++i) {
    const int index = process.slots(i);
    if (index < 0 || index >= inventory.slots_size()) continue;
    const v1::Slot& slot = inventory.slots(index);
    if (slot.kind() != v1::DEVICE_KIND_GPU) continue;
    devices.emplace_back(process.ranks(i).local_rank(),
                         slot.uuid().empty() ? absl::StrCat(slot.index()) : slot.uuid());
  }
}

// Returns the GPUs that the process sees, in local-rank order. A process of one rank sees all GPUs
// of the attempt on this node, so a program that selects cuda:LOCAL_RANK, as torchrun scripts do,
// uses its own slot, and NCCL can use peer access. A launcher numbers its ranks from 0 and sees
// only the GPUs of its slots. Empty if the ranks run on CPU slots, which hides every GPU.
std::string VisibleDevices(const v1::StartAttempt& attempt, const v1::Process& launched,
                           const v1::Inventory& inventory) {
  std::vector<std::pair<int, std::string>> devices;
  for (const v1::Process& process : attempt.processes()) {
    const bool sees = !IsLauncher(launched) || process.ranks(0).rank() == launched.ranks(0).rank();
    if (sees) AddDevices(process, inventory, devices);
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
  const int ranks = static_cast<int>(RanksOf(attempt).size());
  return std::max(1, inventory.cpu_cores() / std::max(1, ranks));
}

// Returns the command that prepares the environment of the job and then runs the command of
// `options`.
std::vector<std::string> WithEnvironment(const v1::StartAttempt& attempt, const LaunchSite& site,
                                         EnvironmentOptions options) {
  if (!attempt.spec().has_environment()) return options.command;
  options.state_dir = site.environment_dir;
  // The programs of the rank write to these directories, also inside a container.
  if (!options.launcher.empty() && !attempt.checkpoint_dir().empty()) {
    options.mounts.push_back(attempt.checkpoint_dir());
  }
  std::vector<std::string> arguments = EnvironmentArguments(options);
  arguments.insert(arguments.begin(), {site.worker_program, kEnvironmentMode});
  return arguments;
}

}  // namespace

const std::vector<std::string>& PassedThroughVariables() {
  static const std::vector<std::string> names = {"PATH", "HOME",   "LANG",           "TZ",
                                                 "USER", "TMPDIR", "LD_LIBRARY_PATH"};
  return names;
}

std::string WorkingDirectoryOf(const v1::JobSpec& spec, const LaunchSite& site) {
  if (!spec.working_directory().empty()) return spec.working_directory();
  return site.code_dir.empty() ? site.run_dir : site.code_dir;
}

ProcessLaunch MakeProcessLaunch(const v1::StartAttempt& attempt, const v1::Process& process,
                                const LaunchSite& site) {
  ProcessLaunch launch;
  const v1::JobSpec& spec = attempt.spec();
  EnvironmentOptions options = OptionsOf(spec.environment());
  // The first process of the gang reports the software, once per attempt.
  options.records = process.ranks(0).rank() == 0 && !process.standby();
  options.command = ArgumentsOf(spec, site);
  launch.argv = WithEnvironment(attempt, site, std::move(options));
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
    environment[variable::kCudaDevices] = VisibleDevices(attempt, process, site.inventory);
  }
  if (GetsTorchrunVariables(spec)) AddTorchrunVariables(attempt, process, site, environment);
  Environment trainyard;
  AddTrainyardVariables(attempt, site, trainyard);
  AddHealVariables(attempt, process, site, trainyard);
  const Environment inherited = environment;
  launch.problem =
      AddJobVariables(spec, {trainyard, inherited, site.worker_environment}, environment);
  for (const auto& [name, value] : site.secrets) environment.erase(name);
  for (const auto& [name, value] : trainyard) environment[name] = value;
  launch.secrets = site.secrets;
  std::erase_if(launch.secrets,
                [&](const auto& secret) { return environment.contains(secret.first); });
  return launch;
}

ProcessLaunch MakeExecLaunch(const v1::StartAttempt& attempt, const v1::Process& process,
                             const LaunchSite& site, const v1::ExecCommand& command) {
  ProcessLaunch launch = MakeProcessLaunch(attempt, process, site);
  EnvironmentOptions options = OptionsOf(attempt.spec().environment());
  // The process has run the setup before.
  options.setup.clear();
  options.interactive = true;
  options.terminal = command.terminal();
  options.command.assign(command.argv().begin(), command.argv().end());
  if (options.command.empty()) options.command = {"sh", "-c", kShellScript};
  launch.argv = WithEnvironment(attempt, site, std::move(options));
  if (command.terminal()) launch.environment["TERM"] = command.terminal_type();
  // A training program that the user starts must not write into the records of the rank.
  for (const char* name : {variable::kTelemetry, variable::kErrorFile, variable::kHeal}) {
    launch.environment.erase(name);
  }
  return launch;
}

}  // namespace trainyard::worker
