#include "worker/core/processes.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/support/status_macros.h"

namespace trainyard::worker {
namespace {

absl::Status CheckShape(const v1::Process& process) {
  const int ranks = process.ranks_size(), slots = process.slots_size();
  if (process.standby() && ranks > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("a standby has ", ranks,
                     " ranks, but this worker starts only standbys of 1 rank; update the worker"));
  }
  if (ranks == slots && ranks > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "a process has ", ranks, ranks == 1 ? " rank" : " ranks", " on ", slots,
      slots == 1 ? " slot" : " slots",
      ", but this worker starts only processes of 1 rank per slot; update the worker"));
}

bool Runs(const v1::Process& process, int rank) {
  return std::ranges::any_of(process.ranks(), [&](const auto& one) { return one.rank() == rank; });
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

std::vector<int> FirstRanksOf(const v1::StartAttempt& command) {
  std::vector<int> ranks;
  for (const v1::Process& process : command.processes()) {
    if (!process.ranks().empty()) ranks.push_back(process.ranks(0).rank());
  }
  return ranks;
}

int FirstRankBeside(const v1::StartAttempt& command, int rank) {
  const auto process = std::ranges::find_if(
      command.processes(), [&](const v1::Process& one) { return Runs(one, rank); });
  return process == command.processes().end() ? rank : process->ranks(0).rank();
}

std::vector<int> RanksBeside(const v1::StartAttempt& command, int first_rank) {
  std::vector<int> ranks;
  for (const v1::Process& process : command.processes()) {
    if (process.ranks().empty() || process.ranks(0).rank() != first_rank) continue;
    for (const v1::ProcessRank& rank : process.ranks()) ranks.push_back(rank.rank());
    return ranks;
  }
  return {first_rank};
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
