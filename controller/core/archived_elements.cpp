#include "controller/core/archived_elements.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

namespace trainyard::controller {
namespace {

// Orders elements: best first.
std::tuple<bool, double, int64_t> RankOf(const v1::ArrayElement& element) {
  const double loss = element.has_validation_loss() ? element.validation_loss() : element.loss();
  const bool has_loss = element.has_validation_loss() || element.has_loss();
  const bool is_known = has_loss && std::isfinite(loss);
  return {!is_known, is_known ? loss : 0, element.index()};
}

}  // namespace

void KeepBestElements(int max, v1::JobSnapshot& details) {
  auto& rungs = *details.mutable_rungs();
  if (rungs.size() > max) rungs.DeleteSubrange(0, rungs.size() - max);
  auto& elements = *details.mutable_elements();
  if (elements.size() <= max) return;
  std::vector<std::tuple<bool, double, int64_t>> ranks;
  ranks.reserve(elements.size());
  for (const v1::ArrayElement& element : elements) ranks.push_back(RankOf(element));
  std::ranges::nth_element(ranks, ranks.begin() + max);
  const auto first_dropped = ranks[max];
  elements.erase(std::remove_if(elements.begin(), elements.end(),
                                [&](const v1::ArrayElement& element) {
                                  return RankOf(element) >= first_dropped;
                                }),
                 elements.end());
}

}  // namespace trainyard::controller
