#include "proto/jobspec/fields/node_range.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace trainyard {
namespace {

constexpr char kRangeDots[] = "..";
constexpr char kRangeForm[] =
    "must be a number, or a range such as 2..8 whose first number is at least "
    "1 and not above the second";

}  // namespace

std::optional<absl::StatusOr<NodeRange>> ParseNodeRange(const std::string& text) {
  const std::size_t dots = text.find(kRangeDots);
  if (dots == std::string::npos) return std::nullopt;
  NodeRange range;
  const bool are_numbers = absl::SimpleAtoi(text.substr(0, dots), &range.min) &&
                           absl::SimpleAtoi(text.substr(dots + sizeof(kRangeDots) - 1), &range.max);
  if (!are_numbers || range.min < 1 || range.min > range.max) {
    return absl::InvalidArgumentError(kRangeForm);
  }
  return range;
}

bool IsElastic(const v1::JobSpec& spec) {
  return spec.has_min_nodes() && spec.min_nodes() < spec.resources().nodes();
}

std::string NodesText(const v1::JobSpec& spec) {
  const int nodes = spec.resources().nodes();
  return IsElastic(spec) ? absl::StrCat(spec.min_nodes(), kRangeDots, nodes) : absl::StrCat(nodes);
}

std::string GangNodesText(const v1::Job& job) {
  const std::string range = NodesText(job.spec());
  // Unknown before the first attempt.
  const int nodes = job.attempts().empty() ? 0 : job.attempts().rbegin()->layout().nodes();
  return IsElastic(job.spec()) && nodes > 0 ? absl::StrCat(nodes, " of ", range) : range;
}

int64_t DataParallelOn(const v1::JobSpec& spec, int nodes) {
  const v1::LayoutSpec& layout = spec.layout();
  const int64_t ranks = int64_t{nodes} * spec.resources().slots_per_node();
  // 128 bits, because the sizes may not have been checked yet.
  const __int128 model_ranks = static_cast<__int128>(layout.tp()) * layout.cp() * layout.pp();
  if (model_ranks <= 0 || ranks % model_ranks != 0) return 0;
  return static_cast<int64_t>(ranks / model_ranks);
}

}  // namespace trainyard
