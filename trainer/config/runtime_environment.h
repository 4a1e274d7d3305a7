// Reads this process's position in its gang and the paths of its files from environment variables:
// those of torchrun, and TRAINYARD_*.
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

  int64_t job_id = 0;   // 0 if no controller started the process.
  int64_t attempt = 1;  // Number of the attempt, used to fence checkpoints.
  std::string run_dir = ".";
  std::string spec_path;           // Empty if --config names the settings file.
  std::string telemetry_path;      // RUN_DIR/telemetry.jsonl by default.
  std::string checkpoint_dir;      // Empty if not set.
  std::string resume_from;         // Checkpoint to resume from; empty for a fresh start.
  std::string skip_samples;        // "a:b,c:d": sample ranges [a, b) to skip in training.
  double lr_factor = 1;            // Factor for the learning rate of every step.
  std::string rolled_back;         // Checkpoints that must not be used (checkpoint/rolled_back.h).
  std::string live_jobs;           // Numbers of the other live jobs, such as "3,17".
  std::string heal_path;           // Heal order file (healing/heal_order.h). Empty: no healing.
  int64_t heal_wait_seconds = 30;  // Time limit for a heal order, and for connecting after it.
  bool is_standby = false;         // True for a spare, which gets its rank from its first order.
  // Generation of the gang in this attempt: 1 at first, then the generation of the latest heal
  // order.
  int64_t generation = 1;
  // Time from SIGTERM to SIGKILL: the job's stop_grace, or infinity if the spec does not set it.
  double stop_grace_seconds = std::numeric_limits<double>::infinity();
};

// Returns the value of a variable, or nullopt if it is not set.
using VariableLookup = std::function<std::optional<std::string>(const std::string& name)>;

// Reads all variables. If no variable is set, the process is the only rank and uses the current
// directory. Throws TrainerError(kBadConfig) with the name of the invalid variable.
RuntimeEnvironment ReadRuntimeEnvironment(const VariableLookup& lookup);

// Reads a variable from this process's environment.
std::optional<std::string> ProcessVariable(const std::string& name);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CONFIG_RUNTIME_ENVIRONMENT_H_
