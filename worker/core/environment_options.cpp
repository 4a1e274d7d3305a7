#include "worker/core/environment_options.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace trainyard::worker {
namespace {

using TextMember = std::string EnvironmentOptions::*;
using ListMember = std::vector<std::string> EnvironmentOptions::*;

constexpr std::pair<const char*, TextMember> kTextOptions[] = {
    {"--state-dir", &EnvironmentOptions::state_dir}, {"--venv", &EnvironmentOptions::venv},
    {"--conda", &EnvironmentOptions::conda},         {"--launcher", &EnvironmentOptions::launcher},
    {"--image", &EnvironmentOptions::image},
};
constexpr std::pair<const char*, ListMember> kListOptions[] = {
    {"--module", &EnvironmentOptions::modules},
    {"--setup", &EnvironmentOptions::setup},
    {"--mount", &EnvironmentOptions::mounts},
    {"--option", &EnvironmentOptions::launcher_options},
};
constexpr std::pair<const char*, bool EnvironmentOptions::*> kFlags[] = {
    {"--record", &EnvironmentOptions::records},
    {"--interactive", &EnvironmentOptions::interactive},
    {"--terminal", &EnvironmentOptions::terminal},
};
constexpr char kTimeoutOption[] = "--setup-timeout";
constexpr char kCommandFollows[] = "--";

const char* LauncherName(v1::ContainerLauncher launcher) {
  switch (launcher) {
    case v1::CONTAINER_LAUNCHER_APPTAINER:
      return "apptainer";
    case v1::CONTAINER_LAUNCHER_ENROOT:
      return "enroot";
    default:
      return "podman";
  }
}

// Sets the option `name`. Returns false for an unknown option.
bool SetOption(const std::string& name, const std::string& value, EnvironmentOptions& options) {
  for (const auto& [key, member] : kTextOptions) {
    if (name == key) options.*member = value;
    if (name == key) return true;
  }
  for (const auto& [key, member] : kListOptions) {
    if (name == key) (options.*member).push_back(value);
    if (name == key) return true;
  }
  for (const auto& [key, member] : kFlags) {
    if (name == key) options.*member = true;
    if (name == key) return true;
  }
  return name == kTimeoutOption && absl::SimpleAtoi(value, &options.setup_timeout_s);
}

}  // namespace

EnvironmentOptions OptionsOf(const v1::EnvironmentSpec& spec) {
  EnvironmentOptions options;
  options.modules.assign(spec.modules().begin(), spec.modules().end());
  options.venv = spec.venv();
  options.conda = spec.conda();
  options.setup.assign(spec.setup().begin(), spec.setup().end());
  options.setup_timeout_s = spec.setup_timeout().seconds();
  if (!spec.has_container()) return options;
  const v1::ContainerSpec& container = spec.container();
  options.launcher = LauncherName(container.launcher());
  options.image = container.image();
  options.mounts.assign(container.mounts().begin(), container.mounts().end());
  options.launcher_options.assign(container.options().begin(), container.options().end());
  return options;
}

std::vector<std::string> EnvironmentArguments(const EnvironmentOptions& options) {
  std::vector<std::string> arguments;
  for (const auto& [key, member] : kTextOptions) {
    const std::string& value = options.*member;
    if (!value.empty()) arguments.push_back(absl::StrCat(key, "=", value));
  }
  for (const auto& [key, member] : kListOptions) {
    for (const std::string& value : options.*member) {
      arguments.push_back(absl::StrCat(key, "=", value));
    }
  }
  arguments.push_back(absl::StrCat(kTimeoutOption, "=", options.setup_timeout_s));
  for (const auto& [key, member] : kFlags) {
    if (options.*member) arguments.push_back(absl::StrCat(key, "="));
  }
  arguments.push_back(kCommandFollows);
  arguments.insert(arguments.end(), options.command.begin(), options.command.end());
  return arguments;
}

std::optional<EnvironmentOptions> ParseEnvironmentArguments(
    const std::vector<std::string>& arguments) {
  EnvironmentOptions options;
  for (auto argument = arguments.begin(); argument != arguments.end(); ++argument) {
    if (*argument == kCommandFollows) {
      options.command.assign(std::next(argument), arguments.end());
      return options.command.empty() ? std::nullopt : std::optional(std::move(options));
    }
    const std::size_t equals = argument->find('=');
    if (equals == std::string::npos) return std::nullopt;
    if (!SetOption(argument->substr(0, equals), argument->substr(equals + 1), options)) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace trainyard::worker
