// Words of a shell script that starts a program, without running anything.
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
  int command = -1;  // `NAME=value program`: the position of the program's command.
};

struct ShellScript {
  std::vector<ScriptCommand> commands;  // Without assignments, redirections and empty commands.
  std::vector<ScriptVariable> exports;  // `export NAME=value`, and `NAME=value program`.
};

// Splits at blanks outside of quotes and at `;`, `&&`, `|`, joins lines that end with a backslash,
// and leaves comments out. `$NAME`, `${NAME}`, `${NAME:-value}` and `${LIST[@]}` are put in where
// an earlier assignment of the script, or `variables`, gives them; other variables and `$(...)`
// stay as they are. RESOURCE_EXHAUSTED when variables that hold variables grow without end.
absl::StatusOr<ShellScript> SplitScript(const std::string& script,
                                        const std::map<std::string, std::string>& variables = {});

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_SOURCE_SHELL_SCRIPT_H_
