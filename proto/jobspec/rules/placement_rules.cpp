#include "proto/jobspec/rules/placement_rules.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "proto/jobspec/fields/node_names.h"
#include "proto/text/node_label.h"

namespace trainyard {
namespace {

template <typename Entries>
void CheckNames(const std::string& key, const Entries& entries,
                std::vector<SettingProblem>& problems) {
  const auto names = ExpandNodeLists(entries);
  if (names.ok()) return;
  problems.push_back({key, absl::StrCat("`", key, "`: ", names.status().message())});
}

}  // namespace

void CheckPlacement(const v1::JobSpec& spec, std::vector<SettingProblem>& problems) {
  const v1::PlacementSpec& placement = spec.placement();
  CheckNames("placement.nodes", placement.nodes(), problems);
  CheckNames("placement.exclude", placement.exclude(), problems);
  for (const auto& [key, value] : placement.labels()) {
    const std::string problem = LabelProblem(key, value);
    if (problem.empty()) continue;
    problems.push_back({"placement.labels",
                        absl::StrCat("`placement.labels`: ", key, " is not valid: ", problem)});
  }
}

}  // namespace trainyard
