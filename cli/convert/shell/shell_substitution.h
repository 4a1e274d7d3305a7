// Results of command substitutions that depend on nothing but their arguments.
#ifndef TRAINYARD_CLI_CONVERT_SHELL_SHELL_SUBSTITUTION_H_
#define TRAINYARD_CLI_CONVERT_SHELL_SHELL_SUBSTITUTION_H_

#include <optional>
#include <string>
#include <vector>

namespace trainyard::cli {

// Returns what `$(...)` would be for the command and its arguments, such as {"dirname", "a/b"}.
// Returns nullopt for a command whose result is not in the script.
std::optional<std::string> SubstitutionResult(const std::vector<std::string>& words);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_SHELL_SHELL_SUBSTITUTION_H_
