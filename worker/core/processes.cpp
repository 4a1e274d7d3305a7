#include "worker/core/processes.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/support/status_macros.h"

namespace trainyard::worker {
namespace {

absl::Status CheckShape(const v1::Process& process) {
  const int ranks = process.ranks_size(), slots = process.slots_size();
  if (ranks == 1 && slots == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "a process has ", ranks, ranks == 1 ? " rank" : " ranks", " on ", slots,
      slots == 1 ? " slot" : " slots",
      ", but this worker starts only processes of 1 rank on 1 slot; update the worker"));
}

}  // namespace

v1::StartAttempt WithProcesses(v1::StartAttempt command) {
  if (!command.processes().empty()) return command;
  for (const v1::RankStart& start : command.ranks()) {
    v1::Process& process = *command.add_processes();
    process.add_slots(start.slot());
    process.set_standby(start.standby());
    v1::ProcessRank& rank = *process.add_ranks();
    rank.set_rank(start.rank());
    rank.set_local_rank(start.local_rank());
  }
  return command;
}

std::vector<int> RanksOf(const v1::StartAttempt& command) {
  std::vector<int> ranks;
  for (const v1::Process& process : command.processes()) {
    for (const v1::ProcessRank& rank : process.ranks()) ranks.push_back(rank.rank());
  }
  return ranks;
}

std::string Contradiction(const v1::StartAttempt& command) {
  if (command.job_id() <= 0 || command.attempt() <= 0) return "job id and attempt must be positive";
  if (command.processes().empty()) return "the command contains no process";
  std::set<int> ranks;
  for (const v1::Process& process : command.processes()) {
    if (process.ranks().empty()) return "a process has no rank";
    for (const v1::ProcessRank& rank : process.ranks()) {
      const bool in_gang = rank.rank() < command.world_size();
      if (rank.rank() < 0 || in_gang == process.standby()) {
        return absl::StrCat("rank ", rank.rank(), " does not fit world size ",
                            command.world_size());
      }
      if (!ranks.insert(rank.rank()).second) {
        return absl::StrCat("rank ", rank.rank(), " occurs twice");
      }
    }
  }
  return "";
}

absl::Status CheckShapes(const v1::StartAttempt& command) {
  for (const v1::Process& process : command.processes()) {
    TRAINYARD_RETURN_IF_ERROR(CheckShape(process));
  }
  return absl::OkStatus();
}

}  // namespace trainyard::worker
