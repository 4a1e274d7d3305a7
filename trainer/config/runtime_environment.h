// Position of this process in its gang and paths of its files: torchrun's variables and
// TRAINYARD_*.
#ifndef TRAINYARD_TRAINER_CONFIG_RUNTIME_ENVIRONMENT_H_
#define TRAINYARD_TRAINER_CONFIG_RUNTIME_ENVIRONMENT_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

namespace trainyard::trainer {

struct RuntimeEnvironment {
  int64_t rank = 0;
  int64_t world_size = 1;
  int64_t local_rank = 0;
  int64_t local_world_size = 1;
  std::string master_addr = "127.0.0.1";
  int64_t master_port = 29500;

  int64_t job_id = 0;   // 0 when no controller has started this run.
  int64_t attempt = 1;  // Number of the attempt, which fences checkpoints.
  std::string run_dir = ".";
  std::string spec_path;       // Empty when --config names the settings.
  std::string telemetry_path;  // RUN_DIR/telemetry.jsonl unless given.
  std::string checkpoint_dir;  // Empty when the run does not name one.
  std::string resume_from;     // Empty for a fresh start.
  std::string skip_samples;    // "a:b,c:d": sample ranges [a, b) that are never trained on.
  double lr_factor = 1;        // Multiplies the learning rate of every step.
  std::string rolled_back;     // Checkpoints not to use (checkpoint/rolled_back.h).
  std::string live_jobs;       // "3,17": other jobs that have not ended.
  std::string heal_path;       // File of heal orders (healing/heal_order.h); empty: no healing.
  int64_t heal_wait_seconds = 30;  // For an order after the loss of a peer, and to connect then.
  bool is_standby = false;         // A spare: the first order gives it its rank.
  // Number of the gang's connection in this attempt: that of the newest heal order. 1: the first.
  int64_t generation = 1;
  // Between SIGTERM and SIGKILL: the job's stop_grace, infinite when its spec has none.
  double stop_grace_seconds = std::numeric_limits<double>::infinity();
};

// Returns the value of a variable, or nothing when it is not set.
using VariableLookup = std::function<std::optional<std::string>(const std::string& name)>;

// Reads all variables. With none set the result is a single process in the current directory.
// Throws TrainerError(kBadConfig) that names the bad variable.
RuntimeEnvironment ReadRuntimeEnvironment(const VariableLookup& lookup);

// The value of a variable in the environment of this process.
std::optional<std::string> ProcessVariable(const std::string& name);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CONFIG_RUNTIME_ENVIRONMENT_H_
