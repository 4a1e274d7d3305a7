#include "worker/environment/container_command.h"

#include <array>
#include <set>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "proto/contract/environment.h"

namespace trainyard::worker {
namespace {

// The parts of a launcher's command line.
struct LauncherTemplate {
  std::string_view name;
  std::vector<std::string> start;
  std::vector<std::string> gpus;
  // Connect standard input, and a terminal. Empty if the launcher always does.
  std::vector<std::string> interactive;
  std::vector<std::string> terminal;
  std::string working_directory;  // Followed by the path.
  std::string mount;              // Followed by PATH:PATH_IN_CONTAINER.
  std::string variable;           // Followed by the name; empty: all variables are passed.
};

// The container shares network and IPC with the node, because ranks of a gang communicate through
// them. Sources: podman-run(1), apptainer-exec(1), `enroot start --help`.
const std::vector<LauncherTemplate>& Templates() {
  static const std::vector<LauncherTemplate> templates = {
      {.name = "podman",
       .start = {"podman", "run", "--rm", "--network=host", "--ipc=host"},
       .gpus = {"--device=nvidia.com/gpu=all"},
       .interactive = {"--interactive"},
       .terminal = {"--tty"},
       .working_directory = "--workdir=",
       .mount = "--volume=",
       .variable = "--env="},
      {.name = "apptainer",
       .start = {"apptainer", "exec"},
       .gpus = {"--nv"},
       .interactive = {},
       .terminal = {},
       .working_directory = "--pwd=",
       .mount = "--bind=",
       .variable = ""},
      {.name = "enroot",
       .start = {"enroot", "start", "--rw"},
       .gpus = {},
       .interactive = {},
       .terminal = {},
       .working_directory = "",
       .mount = "--mount=",
       .variable = "--env="},
  };
  return templates;
}

std::string ValueOf(const Variables& variables, const char* name) {
  const auto found = variables.find(name);
  return found == variables.end() ? "" : found->second;
}

// Returns the mounts of the job, and those that every rank needs, each as PATH:PATH_IN_CONTAINER.
std::set<std::string> MountsOf(const EnvironmentOptions& options, const ContainerSite& site) {
  std::set<std::string> mounts;
  std::vector<std::string> paths = options.mounts;
  paths.push_back(site.working_directory);
  paths.push_back(ValueOf(site.variables, environment::kRunDir));
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    mounts.insert(path.find(':') == std::string::npos ? absl::StrCat(path, ":", path) : path);
  }
  return mounts;
}

}  // namespace

bool IsOfNode(const std::string& name) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "PATH", "HOME", "USER", "TMPDIR", "LD_LIBRARY_PATH", "PWD", "OLDPWD", "SHLVL"};
  for (const std::string_view known : kNames) {
    if (name == known) return true;
  }
  return false;
}

std::vector<std::string> ContainerCommand(const EnvironmentOptions& options,
                                          const ContainerSite& site,
                                          const std::vector<std::string>& command) {
  const LauncherTemplate* launcher = &Templates().front();
  for (const LauncherTemplate& known : Templates()) {
    if (known.name == options.launcher) launcher = &known;
  }
  std::vector<std::string> words = launcher->start;
  const auto add_all = [&](const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  if (!ValueOf(site.variables, environment::kCudaDevices).empty()) add_all(launcher->gpus);
  if (options.interactive) add_all(launcher->interactive);
  if (options.terminal) add_all(launcher->terminal);
  for (const std::string& mount : MountsOf(options, site)) {
    words.push_back(absl::StrCat(launcher->mount, mount));
  }
  if (!launcher->working_directory.empty()) {
    words.push_back(absl::StrCat(launcher->working_directory, site.working_directory));
  }
  for (const auto& [name, value] : site.variables) {
    if (launcher->variable.empty() || IsOfNode(name)) continue;
    words.push_back(absl::StrCat(launcher->variable, name));
  }
  add_all(options.launcher_options);
  words.push_back(options.image);
  add_all(command);
  return words;
}

}  // namespace trainyard::worker
