// Evaluates a shell script that starts a program, by the rules of bash and without executing
// anything.
#ifndef TRAINYARD_CLI_CONVERT_SHELL_SHELL_SCRIPT_H_
#define TRAINYARD_CLI_CONVERT_SHELL_SHELL_SCRIPT_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/convert/shell/shell_text.h"

namespace trainyard::cli {

struct ScriptWord {
  std::string text;
  int line = 1;
  // The expression in the word whose value is not in the script, such as "$DATA"; else empty.
  std::string open = {};
};

using ScriptCommand = std::vector<ScriptWord>;

struct ScriptVariable {
  std::string name;
  std::string value;
  int line = 1;
  int command = -1;  // Index of the program's command for `NAME=value program`; else -1.
  std::string open;  // As in ScriptWord.
};

struct ScriptFile {
  std::string path;
  std::string text;
  int line = 1;
};

struct ScriptNote {
  int line = 0;
  std::string text;
};

struct ShellScript {
  std::vector<ScriptCommand> commands;  // Without assignments, redirections and empty commands.
  std::vector<ScriptVariable> exports;  // From `export NAME=value` and `NAME=value program`.
  std::vector<ScriptFile> files;        // Written by `cat << END > file`.
  // Indices of commands that read a here-document.
  std::set<int> readers;
  // Lines that were left out, and assumptions.
  std::vector<ScriptNote> notes;
  // Variables whose values are part of a command.
  std::set<std::string> used;
  // Variables and functions at the end of the script, for a script that is evaluated after it.
  ShellState state;
};

// Evaluates the script after the scripts that gave `state`. A branch whose condition depends on
// something outside the script contributes nothing and gives a note. Returns INVALID_ARGUMENT with
// the line for text that is not a shell script, and RESOURCE_EXHAUSTED if the script runs for too
// long or its variables become too large.
absl::StatusOr<ShellScript> EvaluateScript(const std::string& text, ShellState state = {});

// Returns a state with these variables.
ShellState StateOf(const std::map<std::string, std::string>& variables);

// Returns the words of one line, without quotes and without a comment.
std::vector<std::string> ShellWordsOf(const std::string& line);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_SHELL_SHELL_SCRIPT_H_
