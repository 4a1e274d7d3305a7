#include "cli/output/jobs/lineage_view.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/output/terminal/readable.h"
#include "proto/json/enum_text.h"

namespace trainyard::cli {
namespace {

using Children = std::map<int64_t, std::vector<const v1::LineageJob*>>;

std::string NodeText(const v1::LineageJob& job, bool is_requested) {
  std::string text = absl::StrCat("job ", job.job_id());
  if (job.name().empty()) return absl::StrCat(text, " (deleted)");
  absl::StrAppend(&text, " ", OneLine(job.name()), " ", EnumText(job.state()));
  if (job.resumed()) absl::StrAppend(&text, ", resumed");
  if (job.step() > 0) absl::StrAppend(&text, " from step ", job.step());
  if (!job.resumed() && job.parent_id() != 0) absl::StrAppend(&text, ", cloned");
  return is_requested ? absl::StrCat(text, "  <- this job") : text;
}

// Adds the jobs below `parent`. The recursion is bounded, because a response has at most 100
// descendants.
void AddBelow(int64_t parent, const Children& children, std::size_t depth, std::string& text) {
  const auto found = children.find(parent);
  if (found == children.end()) return;
  for (const v1::LineageJob* child : found->second) {
    absl::StrAppend(&text, std::string(2 * depth, ' '), NodeText(*child, false), "\n");
    AddBelow(child->job_id(), children, depth + 1, text);
  }
}

bool HasGrandchildren(const v1::GetLineageResponse& lineage) {
  return std::ranges::any_of(lineage.descendants(), [&](const v1::LineageJob& job) {
    return job.parent_id() != lineage.job().job_id();
  });
}

}  // namespace

bool HasRelatives(const v1::Job& job) {
  return job.has_resumed_from() || job.cloned_from() != 0 || !job.children().empty();
}

std::string ResumedText(const v1::Job& job) {
  if (!job.has_resumed_from()) return "";
  const v1::CheckpointOrigin& origin = job.resumed_from();
  return absl::StrCat("from job ", origin.job_id(),
                      origin.step() > 0 ? absl::StrCat(", step ", origin.step()) : "");
}

std::string ChildrenText(const v1::Job& job) {
  if (job.children().empty()) return "";
  return absl::StrCat(job.children_size() == 1 ? "job " : "jobs ",
                      absl::StrJoin(job.children(), ", "));
}

std::string LineageTree(const v1::GetLineageResponse& lineage) {
  const bool is_small = lineage.ancestors_size() + (lineage.descendants().empty() ? 0 : 1) < 2 &&
                        !HasGrandchildren(lineage);
  if (is_small) return "";
  Children children;
  for (const v1::LineageJob& job : lineage.descendants()) children[job.parent_id()].push_back(&job);
  std::string text;
  std::size_t depth = 0;
  for (int i = lineage.ancestors_size() - 1; i >= 0; --i, ++depth) {
    absl::StrAppend(&text, std::string(2 * depth, ' '), NodeText(lineage.ancestors(i), false),
                    "\n");
  }
  absl::StrAppend(&text, std::string(2 * depth, ' '), NodeText(lineage.job(), true), "\n");
  AddBelow(lineage.job().job_id(), children, depth + 1, text);
  if (lineage.more()) absl::StrAppend(&text, "more jobs are not shown\n");
  return text;
}

}  // namespace trainyard::cli
