// The flags of trainyard-trainer. All other settings are in the job file.
#ifndef TRAINYARD_TRAINER_PROCESS_COMMAND_LINE_H_
#define TRAINYARD_TRAINER_PROCESS_COMMAND_LINE_H_

#include <string>

namespace trainyard::trainer {

struct CommandLine {
  std::string config_path;  // Empty: use TRAINYARD_SPEC.
  bool resume = false;      // Resume from the latest checkpoint, if any.
  bool print_config = false;
  std::string verify_checkpoint;  // Checkpoint directory to verify, then exit.
  std::string verify_data;        // Token file directory to verify, then exit.
  std::string tune;               // Output file for tuned matrix products; written, then exit.
  std::string answer;             // Text of --help or --version to print, then exit.
};

// Throws TrainerError(kUsage) for an unknown flag or a flag without its value.
CommandLine ParseCommandLine(int argc, const char* const* argv);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PROCESS_COMMAND_LINE_H_
