#include "worker/environment/environment.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/contract/environment.h"
#include "proto/contract/exit_code.h"
#include "proto/files/unique_fd.h"
#include "proto/support/status_text.h"
#include "worker/core/environment_options.h"
#include "worker/environment/captured_program.h"
#include "worker/environment/container_command.h"
#include "worker/environment/node_setup.h"
#include "worker/environment/software_report.h"
#include "worker/process/program_path.h"

namespace trainyard::worker {
namespace {

constexpr int kNotFound = static_cast<int>(ExitCode::kCommandNotFound);
constexpr std::chrono::seconds kModulesLimit{120};
constexpr std::size_t kMaxVariableBytes = 4 << 20;
constexpr int kNoModuleSystem = 97;

// Loads the modules that are its arguments and prints all variables, separated by NUL. The function
// `module` exists only in a shell. Messages of the modules go to stderr.
constexpr char kModuleScript[] = R"(
if ! type module >/dev/null 2>&1; then
  for file in "${MODULESHOME:-/nonexistent}/init/bash" /etc/profile.d/modules.sh \
              /etc/profile.d/lmod.sh /usr/share/modules/init/bash /usr/share/lmod/lmod/init/bash; do
    if [ -r "$file" ]; then . "$file" >&2; break; fi
  done
fi
type module >/dev/null 2>&1 || exit 97
for name in "$@"; do
  module load "$name" >&2 || exit 1
done
exec env -0
)";

bool IsDirectory(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::string OnThisNode(const std::string& what, const std::string& path) {
  return absl::StrCat(what, " ", path, " on this node; create it there, or correct the path");
}

StepFailure LoadModules(const EnvironmentOptions& options, Variables& variables) {
  if (options.modules.empty()) return {};
  // The name of the script, for its messages, precedes its arguments.
  std::vector<std::string> command = {"bash", "-c", kModuleScript, "modules"};
  command.insert(command.end(), options.modules.begin(), options.modules.end());
  const auto loaded = Capture(command, variables, kModulesLimit, kMaxVariableBytes);
  const std::string names = absl::StrJoin(options.modules, " ");
  if (!loaded.ok()) return {kNotFound, absl::StrCat("modules: ", Text(loaded.status()))};
  if (loaded->exit_code == kNoModuleSystem) {
    return {kNotFound,
            "modules: this node has neither Environment Modules nor Lmod; install one of them, or "
            "remove environment.modules"};
  }
  if (loaded->exit_code != 0) {
    return {kNotFound, absl::StrCat("modules: cannot load ", names,
                                    " on this node; `module avail` lists the modules")};
  }
  variables.clear();
  for (const absl::string_view entry : absl::StrSplit(loaded->text, '\0', absl::SkipEmpty())) {
    const std::vector<std::string> parts = absl::StrSplit(entry, absl::MaxSplits('=', 1));
    if (parts.size() == 2) variables[parts[0]] = parts[1];
  }
  return {};
}

void PrependPath(const std::string& directory, Variables& variables) {
  std::string& path = variables["PATH"];
  path = path.empty() ? directory : absl::StrCat(directory, ":", path);
}

// Sets the variables that the scripts `activate` of venv and conda set for programs.
StepFailure Activate(const EnvironmentOptions& options, Variables& variables) {
  if (!options.venv.empty()) {
    if (access(absl::StrCat(options.venv, "/bin/python").c_str(), X_OK) != 0) {
      return {kNotFound, OnThisNode("there is no virtual environment", options.venv)};
    }
    variables["VIRTUAL_ENV"] = options.venv;
    variables.erase("PYTHONHOME");
    PrependPath(absl::StrCat(options.venv, "/bin"), variables);
  }
  if (!options.conda.empty()) {
    if (!IsDirectory(absl::StrCat(options.conda, "/conda-meta"))) {
      return {kNotFound, OnThisNode("there is no conda environment", options.conda)};
    }
    variables["CONDA_PREFIX"] = options.conda;
    variables["CONDA_DEFAULT_ENV"] = options.conda;
    variables.erase("PYTHONHOME");
    PrependPath(absl::StrCat(options.conda, "/bin"), variables);
  }
  return {};
}

// Failures are ignored: the program runs without the report.
void AppendTelemetry(const Variables& variables, const std::string& line) {
  const auto path = variables.find(environment::kTelemetry);
  if (path == variables.end()) return;
  const UniqueFd fd(open(path->second.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (fd.valid() && write(fd.get(), line.data(), line.size()) < 0) errno = 0;
}

// Replaces this process by the program. Returns only on failure.
StepFailure Execute(const std::vector<std::string>& command, const Variables& variables) {
  const absl::StatusOr<std::string> program = FindProgram(command.front(), variables);
  if (!program.ok()) return {kNotFound, Text(program.status())};
  std::vector<std::string> texts = VariableTexts(variables);
  std::vector<char*> environment;
  for (std::string& text : texts) environment.push_back(text.data());
  environment.push_back(nullptr);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execve(program->c_str(), arguments.data(), environment.data());
  const int code = errno == ENOENT ? kNotFound : static_cast<int>(ExitCode::kCannotExecute);
  return {code, absl::StrCat("cannot execute ", *program, ": ", strerror(errno))};
}

StepFailure Prepare(const EnvironmentOptions& options) {
  Variables variables = OwnVariables();
  std::error_code error;
  const ContainerSite site = {std::filesystem::current_path(error).string(), variables};
  if (StepFailure failure = LoadModules(options, variables); failure.exit_code != 0) return failure;
  if (StepFailure failure = Activate(options, variables); failure.exit_code != 0) return failure;
  if (StepFailure failure = RunSetup(options, variables); failure.exit_code != 0) return failure;
  const InEnvironment in_environment = [&](std::vector<std::string> command) {
    return options.launcher.empty() ? command : ContainerCommand(options, site, command);
  };
  if (options.records) {
    AppendTelemetry(variables, SoftwareLine(options, variables, in_environment));
  }
  return Execute(in_environment(options.command), variables);
}

}  // namespace

int RunEnvironment(int argc, char** argv) {
  const auto options = ParseEnvironmentArguments({argv + 1, argv + argc});
  const StepFailure failure =
      options.has_value()
          ? Prepare(*options)
          : StepFailure{static_cast<int>(ExitCode::kUsage),
                        "invalid arguments; the worker's program was replaced while it ran, so "
                        "start the worker again"};
  std::fprintf(stderr, "trainyard: error: %s\n", failure.message.c_str());
  return failure.exit_code;
}

}  // namespace trainyard::worker
