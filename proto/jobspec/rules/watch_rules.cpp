#include "proto/jobspec/rules/watch_rules.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/support/job_kind.h"
#include "re2/re2.h"

namespace trainyard {
namespace {

using Problems = std::vector<SettingProblem>;

constexpr char kWatch[] = "checkpoint.watch";
constexpr char kStep[] = "checkpoint.step";
constexpr char kTensorboard[] = "tensorboard";
constexpr std::size_t kMostParts = 8;
constexpr std::size_t kMaxPatternBytes = 1024;

// Returns why the worker cannot watch the pattern; empty if it can.
std::string FaultOf(const std::string& pattern) {
  if (pattern.size() > kMaxPatternBytes) {
    return absl::StrCat("is longer than ", kMaxPatternBytes, " bytes; shorten it");
  }
  if (absl::StartsWith(pattern, "/")) {
    return "is an absolute path; put the directory in `checkpoint.dir`, and write the pattern "
           "relative to it";
  }
  if (absl::StrContains(pattern, '\0')) return "contains a NUL byte";
  const std::vector<std::string> parts = absl::StrSplit(pattern, '/');
  if (parts.size() > kMostParts) {
    return absl::StrCat("has more than ", kMostParts,
                        " parts between slashes; use a deeper "
                        "`checkpoint.dir`");
  }
  for (const std::string& part : parts) {
    if (part.empty() || part == "." || part == "..") {
      return "has an empty part, `.` or `..`; the pattern must stay below `checkpoint.dir`";
    }
    if (absl::StrContains(part, "**")) {
      return "contains `**`, which is not supported; write one `*` for each directory";
    }
  }
  return "";
}

void CheckStep(const v1::CheckpointSpec& checkpoint, Problems& problems) {
  const auto refuse = [&](const std::string& why) {
    problems.push_back({kStep, absl::StrCat("`checkpoint.step` ", why)});
  };
  if (!checkpoint.has_step()) return;
  if (checkpoint.watch().empty()) return refuse("needs `checkpoint.watch`");
  if (checkpoint.step().size() > kMaxPatternBytes) {
    return refuse(absl::StrCat("is longer than ", kMaxPatternBytes, " bytes; shorten it"));
  }
  const RE2 pattern(checkpoint.step(), RE2::Quiet);
  if (!pattern.ok()) return refuse(absl::StrCat("is not valid: ", pattern.error()));
  if (pattern.NumberOfCapturingGroups() != 1) {
    refuse("must have exactly one group, which contains the step, such as ckpt_(\\d+)");
  }
}

void CheckTensorboard(const v1::JobSpec& spec, Problems& problems) {
  if (!spec.has_tensorboard()) return;
  const auto refuse = [&](const std::string& why) {
    problems.push_back({kTensorboard, absl::StrCat("`tensorboard` ", why)});
  };
  if (ProgramOf(spec) != JobProgram::kCommand) {
    return refuse(
        "is for jobs with a `command`; Trainyard's own programs report their metrics. "
        "Remove `tensorboard`");
  }
  if (spec.tensorboard().empty()) return refuse("is empty; set it to a directory, such as runs");
  if (spec.tensorboard().size() > kMaxPatternBytes) {
    return refuse(absl::StrCat("is longer than ", kMaxPatternBytes, " bytes; shorten it"));
  }
  if (absl::StrContains(spec.tensorboard(), '\0')) refuse("contains a NUL byte");
}

}  // namespace

void CheckWatch(const v1::JobSpec& spec, Problems& problems) {
  CheckTensorboard(spec, problems);
  const v1::CheckpointSpec& checkpoint = spec.checkpoint();
  CheckStep(checkpoint, problems);
  if (!checkpoint.has_watch()) return;
  if (ProgramOf(spec) != JobProgram::kCommand) {
    problems.push_back({kWatch,
                        "`checkpoint.watch` is for jobs with a `command`; Trainyard's own programs "
                        "report their checkpoints. Remove `checkpoint.watch`"});
    return;
  }
  if (const std::string fault = FaultOf(checkpoint.watch()); !fault.empty()) {
    problems.push_back({kWatch, absl::StrCat("`checkpoint.watch` ", fault)});
  }
  if (checkpoint.keep_best() > 0) {
    problems.push_back({"checkpoint.keep_best",
                        "`checkpoint.keep_best` does not apply to checkpoints of "
                        "`checkpoint.watch`; set `keep_last` or `keep_every_steps`"});
  }
}

}  // namespace trainyard
