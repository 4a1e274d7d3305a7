#include "cli/convert/environment_reader.h"

#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/contract/environment.h"
#include "proto/jobspec/rules/secret_rules.h"

namespace trainyard::cli {
namespace {

// True for variables that the worker sets for each rank, such as the address of the first rank.
bool IsWorkersVariable(const std::string& name) {
  static const std::set<std::string> names = {
      environment::kMasterAddress, environment::kMasterPort,       environment::kWorldSize,
      environment::kRank,          environment::kLocalRank,        environment::kNodeRank,
      environment::kGroupRank,     environment::kLocalWorldSize,   environment::kCudaDevices,
      environment::kNodes,         environment::kProcessesPerNode, "GPUS_PER_NODE"};
  return names.contains(name) || absl::StartsWith(name, "SLURM_") ||
         absl::StartsWith(name, "RDZV_");
}

// True for a value that finds the first node or the rank of a node.
bool IsRendezvous(const std::string& open) {
  for (const char* part : {"scontrol", "SLURM_", "hostname", "getent", "ip addr", "PBS_NODEFILE"}) {
    if (absl::StrContains(open, part)) return true;
  }
  return false;
}

void TakeSecret(const EnvironmentValue& variable, JobDraft& draft) {
  std::vector<std::string> secrets;
  if (const auto found = draft.settings().find("secrets"); found != draft.settings().end()) {
    secrets = found->second.values;
  }
  if (std::find(secrets.begin(), secrets.end(), variable.name) != secrets.end()) return;
  secrets.push_back(variable.name);
  draft.At(variable.line, variable.name);
  draft.SetList("secrets", secrets);
  draft.At(0, "");
  draft.Note(
      variable.line,
      absl::StrCat(variable.name,
                   ": a secret is not written to a job file; put its value in a file of that "
                   "name in the secrets directory of each node"));
}

}  // namespace

void TakeEnvironment(const EnvironmentValue& variable, JobDraft& draft) {
  if (IsWorkersVariable(variable.name)) {
    return draft.LeaveOut(variable.name, "the worker sets it, or `resources` does");
  }
  const bool is_secret = variable.open.empty() ? LooksSecret(variable.name, variable.value)
                                               : HasSecretName(variable.name);
  if (is_secret) return TakeSecret(variable, draft);
  if (IsRendezvous(variable.open)) {
    return draft.LeaveOut(
        variable.name,
        absl::StrCat("it is computed from the nodes, and the worker sets ",
                     environment::kMasterAddress, " and ", environment::kMasterPort));
  }
  if (!variable.open.empty()) {
    return draft.Note(
        variable.line,
        absl::StrCat("export ", variable.name, "=", variable.value, ": the value of ",
                     variable.open, " is not in the script; set env.", variable.name));
  }
  draft.At(variable.line, variable.name);
  draft.Set(absl::StrCat("env.", variable.name), variable.value);
  draft.At(0, "");
}

}  // namespace trainyard::cli
