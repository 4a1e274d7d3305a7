// Splits a shell script into commands and words, without executing it. The script starts a program.
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
  int command = -1;  // Index of the program's command for `NAME=value program`; else -1.
};

struct ShellScript {
  std::vector<ScriptCommand> commands;  // Without assignments, redirections and empty commands.
  std::vector<ScriptVariable> exports;  // From `export NAME=value` and `NAME=value program`.
};

// Splits a script at unquoted blanks and at `;`, `&&` and `|`. Joins lines that end with a
// backslash, and removes comments. Expands `$NAME`, `${NAME}`, `${NAME:-value}` and `${LIST[@]}` if
// an earlier assignment in the script, or `variables`, defines the name. Other variables and
// `$(...)` stay unchanged. Returns RESOURCE_EXHAUSTED if the expanded variables become too long.
absl::StatusOr<ShellScript> SplitScript(const std::string& script,
                                        const std::map<std::string, std::string>& variables = {});

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_SOURCE_SHELL_SCRIPT_H_
