#include "controller/core/decide/job_origin.h"

#include <ranges>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "controller/core/state/attempts/starting_point.h"
#include "proto/files/normal_path.h"

namespace trainyard::controller {
namespace {

v1::CheckpointOrigin Origin(int64_t job_id, int64_t step) {
  v1::CheckpointOrigin origin;
  origin.set_job_id(job_id);
  origin.set_step(step);
  return origin;
}

// Searches the newest jobs first, because a later job may take over the directory of an ended job.
std::optional<v1::CheckpointOrigin> FindListed(const ClusterState& state, const std::string& path) {
  for (const auto& [id, entry] : state.jobs | std::views::reverse) {
    for (const v1::Checkpoint& checkpoint : entry.job.checkpoints()) {
      if (checkpoint.path() == path) return Origin(id, checkpoint.step());
    }
  }
  return std::nullopt;
}

// Parses a path such as ROOT/17-llama/step_000004000.
std::optional<v1::CheckpointOrigin> FindByDirectory(const ClusterState& state,
                                                    const std::string& path,
                                                    const std::string& root) {
  absl::string_view rest = path;
  if (root.empty() || !absl::ConsumePrefix(&rest, NormalPath(root) + "/")) return std::nullopt;
  int64_t id = 0;
  if (!absl::SimpleAtoi(rest.substr(0, rest.find('-')), &id)) return std::nullopt;
  if (FindEntry(state, id) == nullptr && !IsArchived(state, id)) return std::nullopt;
  return Origin(id, StepInName(path));
}

}  // namespace

absl::Status CheckClonedFrom(const ClusterState& state, int64_t cloned_from) {
  const bool is_known = cloned_from == 0 || FindEntry(state, cloned_from) != nullptr ||
                        IsArchived(state, cloned_from);
  if (is_known) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("cloned_from: there is no job ", cloned_from,
                                                 "; `trainyard ps --all` lists the jobs"));
}

std::optional<v1::CheckpointOrigin> OriginOfCheckpoint(const ClusterState& state,
                                                       const std::string& path,
                                                       const std::string& checkpoint_root) {
  if (path.empty()) return std::nullopt;
  const std::string normal = NormalPath(path);
  if (auto listed = FindListed(state, normal)) return listed;
  return FindByDirectory(state, normal, checkpoint_root);
}

}  // namespace trainyard::controller
