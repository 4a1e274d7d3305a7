// The flags of trainyard-trainer. All other settings are in the job file.
#ifndef TRAINYARD_TRAINER_PROCESS_COMMAND_LINE_H_
#define TRAINYARD_TRAINER_PROCESS_COMMAND_LINE_H_

#include <string>

namespace trainyard::trainer {

struct CommandLine {
  std::string config_path;  // Empty: use TRAINYARD_SPEC.
  bool resume = false;      // Resume from the latest checkpoint, if any.
  bool print_config = false;
  std::string verify_checkpoint;  // Checkpoint directory. If set, verify it and exit.
  std::string verify_data;        // Token file directory. If set, verify it and exit.
  std::string tune;               // If set, write a table of tuned matrix products here and exit.
  std::string answer;             // If set, print this text of --help or --version and exit.
};

// Throws TrainerError(kUsage) if a flag is unknown or lacks its value.
CommandLine ParseCommandLine(int argc, const char* const* argv);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PROCESS_COMMAND_LINE_H_
