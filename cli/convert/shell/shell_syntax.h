// The syntax tree of a shell script.
#ifndef TRAINYARD_CLI_CONVERT_SHELL_SHELL_SYNTAX_H_
#define TRAINYARD_CLI_CONVERT_SHELL_SHELL_SYNTAX_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trainyard::cli {

// A word as it is written, with quotes and expansions.
struct RawWord {
  std::string text;
  int line = 1;
};

struct ShellNode;
using ShellList = std::vector<ShellNode>;

struct ShellBranch {
  ShellList condition;            // Of `if`, `elif`, `while` and `until`; empty for `else`.
  std::vector<RawWord> patterns;  // Of `case`.
  ShellList body;
};

struct ShellNode {
  enum class Kind {
    kSimple,
    kIf,
    kWhile,
    kUntil,
    kFor,
    kForArithmetic,
    kCase,
    kGroup,
    kSubshell,
    kFunction,
    kArithmetic,
  };
  // The operator between the previous command of the list and this one.
  enum class Link { kNone, kAnd, kOr, kPipe };

  Kind kind = Kind::kSimple;
  Link link = Link::kNone;
  bool is_negated = false;
  int line = 1;
  int last_line = 1;
  std::string name;            // The variable of `for`, or the function.
  std::string expression;      // Of kArithmetic and kForArithmetic.
  std::vector<RawWord> words;  // Of kSimple and kFor; the subject of kCase.
  std::vector<ShellBranch> branches;
  // The here-document of a simple command and the target of its last redirection.
  RawWord document;
  bool has_document = false;
  bool is_document_quoted = false;
  RawWord target;
};

// Returns INVALID_ARGUMENT with the line if the text is not valid shell syntax, and
// RESOURCE_EXHAUSTED if it is nested too deeply. Appends the lines on which blanks follow the
// backslash at the end of the line.
absl::StatusOr<ShellList> ParseShell(absl::string_view text, int first_line,
                                     std::vector<int>& blank_after_backslash);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_SHELL_SHELL_SYNTAX_H_
