// The few flags of trainyard-trainer; everything else is a setting in the job file.
#ifndef TRAINYARD_TRAINER_COMMAND_LINE_H_
#define TRAINYARD_TRAINER_COMMAND_LINE_H_

#include <string>

namespace trainyard::trainer {

struct CommandLine {
  std::string config_path;  // Empty: TRAINYARD_SPEC names the file.
  bool resume = false;      // From the newest checkpoint in the checkpoint directory, if any.
  bool print_config = false;
  std::string verify_checkpoint;  // Directory of one checkpoint: read all of it and leave.
  std::string verify_data;        // Directory of token files: the same.
  std::string tune;               // File for the tuned matrix products: write it and leave.
  std::string answer;             // Text of --help or --version: print it and leave.
};

// Throws TrainerError(kUsage) for a flag that it does not know.
CommandLine ParseCommandLine(int argc, const char* const* argv);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_COMMAND_LINE_H_
