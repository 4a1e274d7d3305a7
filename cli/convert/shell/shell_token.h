// Splits the text of a shell script into tokens by the rules of bash. Quotes and expansions stay in
// the words as they are written.
#ifndef TRAINYARD_CLI_CONVERT_SHELL_SHELL_TOKEN_H_
#define TRAINYARD_CLI_CONVERT_SHELL_SHELL_TOKEN_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trainyard::cli {

struct ShellToken {
  enum class Kind {
    kWord,
    kOperator,    // ; & | && || ;; ( )
    kArithmetic,  // `((...))`; the text is the expression.
    kNewline,
    kRedirection,  // The text is the target, or empty for a file descriptor.
    kHereDocument,
    kEnd,
  };
  Kind kind = Kind::kEnd;
  std::string text;
  int line = 1;
  bool is_quoted = false;  // kHereDocument: the body is not expanded.
};

struct ShellTokens {
  std::vector<ShellToken> tokens;  // Ends with kEnd.
  // Lines on which blanks follow the backslash at the end of the line. The lines are joined.
  std::vector<int> blank_after_backslash;
};

// Returns INVALID_ARGUMENT with the line of a quote or parenthesis that is not closed.
// `first_line`: the line of the text's first byte.
absl::StatusOr<ShellTokens> ReadShellTokens(absl::string_view text, int first_line = 1);

// Returns the position after the quoted text, expansion or single byte that starts at `at`, or npos
// if it is not closed.
std::size_t ShellPieceEnd(absl::string_view text, std::size_t at);

bool IsShellNameByte(char byte);
// Returns the length of the `NAME=`, `NAME+=` or `NAME[...]=` at the start of the text; 0 if the
// text is not an assignment.
std::size_t ShellAssignmentLength(absl::string_view text);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_SHELL_SHELL_TOKEN_H_
