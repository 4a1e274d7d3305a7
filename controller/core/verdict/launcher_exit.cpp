#include "controller/core/verdict/launcher_exit.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "controller/core/verdict/error_line.h"
#include "proto/jobspec/rules/launch_shape.h"
#include "proto/text/line_prefix.h"
#include "re2/re2.h"

namespace trainyard::controller {
namespace {

// Returns the rank, counted over the job, that torchrun's final table blames. The table has one
// entry per failed rank, the root cause last. torchrun takes the rank that it saw failing first for
// the root cause, which may be a rank that lost a peer. Therefore an entry with the error line
// precedes.
std::optional<int> RankInTable(const std::string& log_tail, const std::string& error_line) {
  static const RE2 kEntry(R"(\brank\s*:\s*(\d{1,6}) \(local_rank: \d+\))");
  re2::StringPiece rest(log_tail);
  std::optional<int> last;
  int rank = 0;
  while (RE2::FindAndConsume(&rest, kEntry, &rank)) {
    last = rank;
    re2::StringPiece behind = rest;
    re2::StringPiece next;
    const bool has_next = RE2::FindAndConsume(&behind, kEntry, &next);
    const std::size_t size = has_next ? rest.size() - behind.size() : rest.size();
    const std::string_view entry(rest.data(), size);
    if (!error_line.empty() && entry.find(error_line) != std::string_view::npos) return rank;
  }
  return last;
}

std::optional<int> BlamedRank(const std::string& log_tail, int first_rank) {
  const std::string error_line = ErrorLine(log_tail);
  const std::optional<LineLabel> label = LineLabelOf(error_line);
  if (!label.has_value()) return RankInTable(log_tail, error_line);
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
