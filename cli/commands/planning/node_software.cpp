#include "cli/commands/planning/node_software.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/contract/container_launchers.h"
#include "proto/json/enum_text.h"

namespace trainyard::cli {
namespace {

constexpr std::size_t kMaxNamedNodes = 8;

bool Lacks(const v1::NodeChecks& node, const std::string& launcher) {
  for (const v1::NodeCheck& check : node.checks()) {
    if (check.name() != kLaunchersCheck) continue;
    const std::vector<std::string> found = absl::StrSplit(check.found(), kLauncherSeparator);
    return std::ranges::find(found, launcher) == found.end();
  }
  return false;
}

}  // namespace

std::string MissingLauncherText(const v1::JobSpec& spec, const v1::CheckNodesResponse& checks) {
  if (!spec.environment().has_container()) return "";
  const std::string launcher = EnumText(spec.environment().container().launcher());
  std::vector<std::string> names;
  for (const v1::NodeChecks& node : checks.nodes()) {
    if (Lacks(node, launcher)) names.push_back(node.name());
  }
  if (names.empty()) return "";
  const std::size_t more = names.size() - std::min(names.size(), kMaxNamedNodes);
  names.resize(names.size() - more);
  return absl::StrCat(launcher, " is not installed on ", absl::StrJoin(names, ", "),
                      more == 0 ? "" : absl::StrCat(" and ", more, " more nodes"),
                      "; ranks there would fail, so install it or exclude these nodes with "
                      "`placement`");
}

}  // namespace trainyard::cli
