// Text during the expansion of shell words: each byte keeps its source line, and whether it was
// quoted and known.
#ifndef TRAINYARD_CLI_CONVERT_SHELL_SHELL_TEXT_H_
#define TRAINYARD_CLI_CONVERT_SHELL_SHELL_TEXT_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cli/convert/shell/shell_syntax.h"

namespace trainyard::cli {

struct ShellGlyph {
  enum class Source {
    kKnown,
    kOpen,   // Part of an expression whose value is not in the script.
    kUnset,  // Part of a reference to a variable that the script does not set.
  };
  char byte = '\0';
  bool is_quoted = false;
  Source source = Source::kKnown;
  int line = 1;
};

using ShellText = std::vector<ShellGlyph>;

std::string BytesOf(const ShellText& text);
// True if every byte of the text is known.
bool IsKnown(const ShellText& text);
// True for a text that consists of a reference to a variable that the script does not set.
bool IsUnsetReference(const ShellText& text);
// Returns the first expression in the text whose value is not in the script; empty if there is
// none.
std::string OpenPart(const ShellText& text);
ShellText KnownText(absl::string_view bytes, int line, bool is_quoted = false);
ShellText OpenText(absl::string_view written, int line,
                   ShellGlyph::Source source = ShellGlyph::Source::kOpen);

// True if the text matches the glob pattern. A quoted byte of the pattern has no special meaning.
bool MatchesGlob(const ShellText& pattern, absl::string_view text);

struct ShellValue {
  std::vector<ShellText> items;  // One item for a variable without a list.
  bool is_list = false;
  bool is_exported = false;
};

// The variables of a script, its functions, and the arguments $1, $2, ...
struct ShellState {
  std::map<std::string, ShellValue> variables;
  std::map<std::string, ShellNode> functions;
  std::vector<ShellText> arguments;
  // False at the top level, where the caller of the script would give the arguments.
  bool has_arguments = false;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_SHELL_SHELL_TEXT_H_
