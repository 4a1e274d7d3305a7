// Megatron-LM's command lines as job files.
#ifndef TRAINYARD_CLI_RECIPES_MEGATRON_COMMAND_H_
#define TRAINYARD_CLI_RECIPES_MEGATRON_COMMAND_H_

#include <string>
#include <vector>

namespace trainyard::cli {

struct ConvertedJob {
  std::string text;                // YAML.
  std::vector<std::string> notes;  // "line 7: --foo 3: ...", in the order of the lines.
  bool has_program = false;        // A pretrain script stands there.
};

// `script`: a command line, or a script with one, as pasted. Options that are not written have
// Megatron-LM's defaults, not trainyard-trainer's. An option that has no meaning for
// trainyard-trainer, or that it cannot do, is in the notes and not in the job file.
ConvertedJob ConvertMegatron(const std::string& script, const std::string& name);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_RECIPES_MEGATRON_COMMAND_H_
