// Splits a shell script that starts a program into words. Nothing is executed.
#ifndef TRAINYARD_CLI_CONVERT_SOURCE_SHELL_SCRIPT_H_
#define TRAINYARD_CLI_CONVERT_SOURCE_SHELL_SCRIPT_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace trainyard::cli {

struct ScriptWord {
  std::string text;
  int line = 1;
};

using ScriptCommand = std::vector<ScriptWord>;

struct ScriptVariable {
  std::string name;
  std::string value;
  int line = 1;
  int command = -1;  // For `NAME=value program`: index of the program's command.
};

struct ShellScript {
  std::vector<ScriptCommand> commands;  // No assignments, redirections or empty commands.
  std::vector<ScriptVariable> exports;  // From `export NAME=value` and `NAME=value program`.
};

// Splits a script at blanks outside of quotes and at `;`, `&&`, `|`. Joins lines that end with a
// backslash, and removes comments. `$NAME`, `${NAME}`, `${NAME:-value}` and `${LIST[@]}` are
// replaced if an earlier assignment of the script, or `variables`, defines them. Other variables
// and `$(...)` stay unchanged. Returns RESOURCE_EXHAUSTED if variables that contain variables grow
// without limit.
absl::StatusOr<ShellScript> SplitScript(const std::string& script,
                                        const std::map<std::string, std::string>& variables = {});

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_SOURCE_SHELL_SCRIPT_H_
