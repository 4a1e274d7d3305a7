// This process's position in its gang and the paths of its files, from torchrun's variables and
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

  int64_t job_id = 0;   // 0 if not started by a controller.
  int64_t attempt = 1;  // Attempt number; fences checkpoints.
  std::string run_dir = ".";
  std::string spec_path;           // Empty if --config names the settings.
  std::string telemetry_path;      // RUN_DIR/telemetry.jsonl by default.
  std::string checkpoint_dir;      // Empty if not set.
  std::string resume_from;         // Empty for a fresh start.
  std::string skip_samples;        // "a:b,c:d": sample ranges [a, b) never trained on.
  double lr_factor = 1;            // Multiplies the learning rate of every step.
  std::string rolled_back;         // Checkpoints not to use (checkpoint/rolled_back.h).
  std::string live_jobs;           // "3,17": the other jobs that have not ended.
  std::string heal_path;           // Heal order file (healing/heal_order.h); empty: no healing.
  int64_t heal_wait_seconds = 30;  // Limit for the order after a peer loss, and for connecting.
  bool is_standby = false;         // A spare, which gets its rank from its first order.
  // Generation of the gang in this attempt: 1 at first, later that of the latest heal order.
  int64_t generation = 1;
  // Time from SIGTERM to SIGKILL: the job's stop_grace, or infinity if its spec has none.
  double stop_grace_seconds = std::numeric_limits<double>::infinity();
};

// Returns the value of a variable, or nullopt if it is not set.
using VariableLookup = std::function<std::optional<std::string>(const std::string& name)>;

// Reads all variables. If none is set, the result is a single process in the current directory.
// Throws TrainerError(kBadConfig) naming the bad variable.
RuntimeEnvironment ReadRuntimeEnvironment(const VariableLookup& lookup);

// Reads a variable from this process's environment.
std::optional<std::string> ProcessVariable(const std::string& name);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CONFIG_RUNTIME_ENVIRONMENT_H_
