// The command line of `trainyard-worker environment`, which prepares the environment of a rank and
// then runs the rank's program. Pure.
#ifndef TRAINYARD_WORKER_CORE_ENVIRONMENT_OPTIONS_H_
#define TRAINYARD_WORKER_CORE_ENVIRONMENT_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainyard/v1/environment_spec.pb.h"

namespace trainyard::worker {

// The first argument of the worker's program.
inline constexpr char kEnvironmentMode[] = "environment";

struct EnvironmentOptions {
  // Directory with the locks and marks of the setups on this node.
  std::string state_dir;
  std::vector<std::string> modules;
  std::string venv;
  std::string conda;
  std::vector<std::string> setup;
  int64_t setup_timeout_s = 0;
  std::string launcher;  // podman, apptainer or enroot; empty: no container.
  std::string image;
  std::vector<std::string> mounts;  // PATH or PATH:PATH_IN_CONTAINER.
  std::vector<std::string> launcher_options;
  bool records = false;      // True for the rank that reports the software.
  bool interactive = false;  // The program reads standard input.
  bool terminal = false;     // Standard input is a terminal.
  std::vector<std::string> command;

  friend bool operator==(const EnvironmentOptions&, const EnvironmentOptions&) = default;
};

// Returns the options of the job's section, without state_dir, records and command.
EnvironmentOptions OptionsOf(const v1::EnvironmentSpec& spec);

// Returns the arguments that follow kEnvironmentMode.
std::vector<std::string> EnvironmentArguments(const EnvironmentOptions& options);

// Parses the result of EnvironmentArguments. Returns nullopt for other arguments, such as those of
// another release of the worker.
std::optional<EnvironmentOptions> ParseEnvironmentArguments(
    const std::vector<std::string>& arguments);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_ENVIRONMENT_OPTIONS_H_
