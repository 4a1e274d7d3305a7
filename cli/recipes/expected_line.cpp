#include "cli/recipes/expected_line.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/output/terminal/readable.h"
#include "controller/planner/layout_search.h"
#include "controller/planner/step_time.h"
#include "proto/memory/memory_advice.h"
#include "proto/model/model_size.h"

namespace trainyard::cli {
namespace {

constexpr char kPrefix[] = "# Expected on ";

}  // namespace

std::vector<ExpectedLine> FindExpectedLines(const std::string& recipe) {
  std::vector<ExpectedLine> lines;
  const std::string prefix = kPrefix;
  for (size_t begin = 0; begin < recipe.size();) {
    size_t end = recipe.find('\n', begin);
    if (end == std::string::npos) end = recipe.size();
    const std::string text = recipe.substr(begin, end - begin);
    const size_t colon = text.find(':');
    if (text.rfind(prefix, 0) == 0 && colon != std::string::npos) {
      lines.push_back({text.substr(prefix.size(), colon - prefix.size()), text, begin});
    }
    begin = end + 1;
  }
  return lines;
}

Expectation ExpectationOf(const RunConfig& config, const planner::Cluster& cluster) {
  int64_t stage = 0;
  const double seconds = planner::PredictStep(config, cluster).Total();
  return {planner::EstimateOf(config, cluster, seconds), planner::PeakMemory(config, stage)};
}

std::string ExpectedText(const RunConfig& config, const planner::Cluster& cluster) {
  const Expectation expected = ExpectationOf(config, cluster);
  const std::string network =
      cluster.nodes > 1 ? absl::StrCat(" (", std::string(cluster.network.name), ")") : "";
  return absl::StrFormat("%s%s: %d x %d%s, %d parameters, %s tokens/s, MFU %.1f %%, %s per GPU.",
                         kPrefix, std::string(cluster.device->rating->name), cluster.nodes,
                         cluster.per_node, network, ParameterCount(config.model),
                         CompactNumber(expected.run.tokens_per_second), 100 * expected.run.mfu,
                         GigabytesText(expected.memory.Total()));
}

}  // namespace trainyard::cli
