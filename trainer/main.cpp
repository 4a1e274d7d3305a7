// trainyard-trainer, which trains one model. A process is either one rank of a gang or the whole
// run.
#include <unistd.h>

#include <climits>
#include <iostream>
#include <nlohmann/json.hpp>

#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/checkpoint_tools/commands/verify.h"
#include "trainer/config/run_config_json.h"
#include "trainer/config/runtime_environment.h"
#include "trainer/config/trainer_error.h"
#include "trainer/data/verification.h"
#include "trainer/parallel/interruption/lost_store.h"
#include "trainer/process/command_line.h"
#include "trainer/process/failure.h"
#include "trainer/process/signals.h"
#include "trainer/run/rank_run.h"
#include "trainer/run/tuning.h"

namespace trainyard::trainer {
namespace {

// Loads the settings and copies the setting stop_grace into `env`.
RunConfig ReadConfig(const CommandLine& command, RuntimeEnvironment& env) {
  const std::string path = command.config_path.empty() ? env.spec_path : command.config_path;
  if (path.empty()) {
    throw TrainerError(
        ExitCode::kUsage,
        "There are no settings. Pass --config FILE, or set TRAINYARD_SPEC; see --help.");
  }
  RunConfig config = LoadRunConfig(path);
  ResolveRunConfig(env.world_size, config);
  env.stop_grace_seconds = LoadStopGraceSeconds(path);
  return config;
}

// Does not use std::filesystem, because PyTorch's CUDA wheel exports the symbols of another
// libstdc++, and calls to them crash.
std::string AbsolutePath(const std::string& path) {
  if (path.starts_with("/")) return path;
  char directory[PATH_MAX];
  if (getcwd(directory, sizeof(directory)) == nullptr) {
    throw TrainerError(
        ExitCode::kNoInput,
        "The current directory no longer exists; start the trainer in another directory.");
  }
  return std::string(directory) + "/" + (path.starts_with("./") ? path.substr(2) : path);
}

// Sets, from the settings, those paths that the environment does not set.
void ResolvePaths(const RunConfig& config, const CommandLine& command, RuntimeEnvironment& env) {
  if (env.checkpoint_dir.empty()) env.checkpoint_dir = config.checkpoint.dir;
  if (env.checkpoint_dir.empty()) env.checkpoint_dir = env.run_dir + "/checkpoints";
  env.checkpoint_dir = AbsolutePath(env.checkpoint_dir);
  if (env.resume_from.empty()) env.resume_from = config.checkpoint.resume_from;
  const bool needs_weights = config.evaluation.only && env.resume_from.empty();
  if (!command.resume && !needs_weights) return;
  const auto latest = LatestCheckpoint(env.checkpoint_dir);
  if (latest) env.resume_from = latest->path;
}

ExitCode Main(int argc, char** argv) {
  const CommandLine command = ParseCommandLine(argc, argv);
  if (!command.answer.empty()) {
    std::cout << command.answer << std::flush;
    return ExitCode::kOk;
  }
  if (!command.verify_checkpoint.empty()) {
    return VerifyCheckpoints({command.verify_checkpoint}, std::cout);
  }
  if (!command.verify_data.empty()) {
    VerifyDataFiles(command.verify_data, std::cout);
    return ExitCode::kOk;
  }
  RuntimeEnvironment env = ReadRuntimeEnvironment(ProcessVariable);
  const RunConfig config = ReadConfig(command, env);
  if (command.print_config) {
    std::cout << RunConfigToJson(config).dump(2) << std::endl;
    return ExitCode::kOk;
  }
  if (!command.tune.empty()) {
    TuneMatrixProductsOf(config, command.tune);
    return ExitCode::kOk;
  }
  ResolvePaths(config, command, env);
  WatchSignals();
  LeaveWhenStoreIsLost();
  return RunRank(config, env);
}

// Prints the failure as one line to stderr. Returns the exit code that the worker reads.
int Fail(const Failure& failure) {
  std::cerr << "trainyard-trainer: " << failure.message << std::endl;
  return static_cast<int>(failure.code);
}

}  // namespace
}  // namespace trainyard::trainer

int main(int argc, char** argv) {
  try {
    return static_cast<int>(trainyard::trainer::Main(argc, argv));
  } catch (const std::exception& error) {
    const trainyard::trainer::Failure failure = trainyard::trainer::FailureOf(error);
    const int code = trainyard::trainer::Fail(failure);
    if (failure.code != trainyard::ExitCode::kPeerLost) return code;
    // Exits without running CUDA's exit handlers. The handlers would wait for the device, which
    // itself waits for the lost peer.
    std::cout.flush();
    _exit(code);
  }
}
