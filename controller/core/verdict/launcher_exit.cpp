#include "controller/core/verdict/launcher_exit.h"

#include <optional>
#include <string>

#include "controller/core/verdict/error_line.h"
#include "proto/jobspec/launch_shape.h"
#include "proto/text/line_prefix.h"
#include "re2/re2.h"

namespace trainyard::controller {
namespace {

// Returns the rank, counted over the job, that torchrun's final table blames.
std::optional<int> RankInTable(const std::string& log_tail) {
  static const RE2 kRootCause(
      R"((?s)Root Cause \(first observed failure\):.{0,400}?\brank\s*:\s*(\d{1,6}) )"
      R"(\(local_rank: \d+\))");
  int rank = 0;
  if (!RE2::PartialMatch(log_tail, kRootCause, &rank)) return std::nullopt;
  return rank;
}

std::optional<int> BlamedRank(const std::string& log_tail, int first_rank) {
  const std::optional<LineLabel> label = LineLabelOf(ErrorLine(log_tail));
  if (!label.has_value()) return RankInTable(log_tail);
  return label->number + (label->is_local ? first_rank : 0);
}

}  // namespace

const v1::RankExited& ExitOfBlamedRank(const JobEntry& entry, const v1::RankExited& exited) {
  const int ranks = RanksPerProcess(entry.job.spec());
  if (ranks == 1) return exited;
  const int first_rank = FirstRankOfProcess(entry.job.spec(), exited.rank());
  const std::optional<int> blamed = BlamedRank(exited.log_tail(), first_rank);
  if (!blamed.has_value() || *blamed < first_rank || *blamed >= first_rank + ranks) return exited;
  const auto found = entry.exited_ranks.find(*blamed);
  return found == entry.exited_ranks.end() ? exited : found->second;
}

}  // namespace trainyard::controller
