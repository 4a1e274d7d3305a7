// Evaluates the tests of shell scripts: `[ ... ]`, `test ...` and `[[ ... ]]`.
#ifndef TRAINYARD_CLI_CONVERT_SHELL_SHELL_CONDITION_H_
#define TRAINYARD_CLI_CONVERT_SHELL_SHELL_CONDITION_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/convert/shell/shell_text.h"

namespace trainyard::cli {

// Returns nullopt if the result depends on something outside the script, such as a file.
// `is_extended`: the words come from `[[`, so that `==` compares with a pattern. `taken_as_unset`
// receives the variables that the script does not set and that `-z` and `-n` take as unset.
std::optional<bool> EvaluateTest(const std::vector<ShellText>& words, bool is_extended,
                                 std::set<std::string>& taken_as_unset);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_SHELL_SHELL_CONDITION_H_
