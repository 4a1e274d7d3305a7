// `trainyard convert`: converts the files of other trainers to job files.
#ifndef TRAINYARD_CLI_COMMANDS_PLANNING_CONVERT_H_
#define TRAINYARD_CLI_COMMANDS_PLANNING_CONVERT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct ConvertOptions {
  std::vector<std::string> files;  // The files of one run; "-": standard input.
  std::string format;              // Empty: detected from the text.
  std::string name;                // Empty: taken from the files.
  int64_t nodes = 0;               // With per_node: used if the files name no cluster.
  int64_t per_node = 0;
  bool keeps_command = false;          // True: the job runs the script's own program.
  std::vector<std::string> variables;  // NAME=VALUE.
};

// Adds the command and its options.
void AddConvert(CLI::App& parent, Grammar& grammar);

Outcome RunConvert(const ConvertOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_PLANNING_CONVERT_H_
