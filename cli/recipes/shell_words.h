// Words of a shell script that starts a program, without running anything.
#ifndef TRAINYARD_CLI_RECIPES_SHELL_WORDS_H_
#define TRAINYARD_CLI_RECIPES_SHELL_WORDS_H_

#include <string>
#include <vector>

namespace trainyard::cli {

struct ScriptWord {
  std::string text;
  int line = 1;
  int command = 0;  // Words with the same number are of one command.
};

// Splits at blanks outside of quotes, joins lines that end with a backslash, leaves comments out,
// and puts in `$NAME` and `${NAME}` where an earlier `NAME=value` of the script gives them. Other
// variables and `$(...)` stay as they are.
std::vector<ScriptWord> SplitScript(const std::string& script);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_RECIPES_SHELL_WORDS_H_
