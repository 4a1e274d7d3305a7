#include "proto/jobspec/rules/environment_rules.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/jobspec/rules/secret_rules.h"
#include "proto/support/job_kind.h"

namespace trainyard {
namespace {

using Problems = std::vector<SettingProblem>;

// True for PATH and PATH:PATH with absolute paths. Launchers separate mounts by commas.
bool IsMount(const std::string& mount) {
  const std::vector<std::string> paths = absl::StrSplit(mount, ':');
  bool valid = paths.size() <= 2 && !absl::StrContains(mount, ',');
  for (const std::string& path : paths) valid = valid && absl::StartsWith(path, "/");
  return valid;
}

template <typename Words>
void CheckWords(const char* key, const Words& words, Problems& problems) {
  for (const std::string& word : words) {
    if (absl::StrContains(word, '\0')) {
      problems.push_back({key, absl::StrCat("`", key, "` contains a NUL byte")});
    } else if (HoldsSecret(word)) {
      problems.push_back(
          {key, absl::StrCat("a word of `", key,
                             "` looks like a secret, but it is stored and shown in plain text; "
                             "list a variable in `secrets`, and read it from that variable")});
    }
  }
}

void CheckContainer(const v1::JobSpec& spec, Problems& problems) {
  const v1::EnvironmentSpec& environment = spec.environment();
  if (ProgramOf(spec) != JobProgram::kCommand) {
    problems.push_back(
        {"environment.container",
         "`environment.container` needs a `command`, because the programs of Trainyard are not in "
         "the image; remove the container"});
  }
  if (environment.container().image().empty()) {
    problems.push_back({"environment.container.image", "`environment.container.image` is missing"});
  } else if (absl::StartsWith(environment.container().image(), "-")) {
    problems.push_back({"environment.container.image",
                        "`environment.container.image` begins with `-`; write options of the "
                        "launcher into `environment.container.options`"});
  }
  if (environment.has_venv() || environment.has_conda()) {
    problems.push_back(
        {"environment.container",
         "a container does not use the Python environment of the node; remove `environment.venv` "
         "and `environment.conda`, and install the packages in the image"});
  }
  for (const std::string& mount : environment.container().mounts()) {
    if (IsMount(mount)) continue;
    problems.push_back(
        {"environment.container.mounts",
         absl::StrCat("`environment.container.mounts` contains \"", mount,
                      "\"; write an absolute PATH or PATH:PATH_IN_CONTAINER without commas")});
  }
  CheckWords("environment.container.options", environment.container().options(), problems);
}

}  // namespace

void CheckEnvironment(const v1::JobSpec& spec, Problems& problems) {
  const v1::EnvironmentSpec& environment = spec.environment();
  if (environment.has_venv() && environment.has_conda()) {
    problems.push_back({"environment.conda",
                        "`environment.venv` and `environment.conda` exclude each other; keep one"});
  }
  if (!environment.setup().empty() && environment.setup(0).empty()) {
    problems.push_back(
        {"environment.setup", "`environment.setup` begins with an empty word; name a program"});
  }
  CheckWords("environment.setup", environment.setup(), problems);
  if (environment.has_container()) CheckContainer(spec, problems);
}

}  // namespace trainyard
