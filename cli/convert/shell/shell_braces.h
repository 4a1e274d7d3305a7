// Brace expansion of shell words: `a{b,c}` and `{1..4}`.
#ifndef TRAINYARD_CLI_CONVERT_SHELL_SHELL_BRACES_H_
#define TRAINYARD_CLI_CONVERT_SHELL_SHELL_BRACES_H_

#include <vector>

#include "cli/convert/shell/shell_syntax.h"

namespace trainyard::cli {

// Returns the words that bash makes of the word before it expands variables. Returns the word
// itself if there are no braces to expand or more than 1000 results.
std::vector<RawWord> ExpandBraces(const RawWord& word);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_SHELL_SHELL_BRACES_H_
