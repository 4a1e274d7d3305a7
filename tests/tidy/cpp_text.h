// An approximate parser for C++ source text. The parser finds the constructs that the rules of
// tests/tidy check.
#ifndef TRAINYARD_TESTS_TIDY_CPP_TEXT_H_
#define TRAINYARD_TESTS_TIDY_CPP_TEXT_H_

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::tidy {

// True for characters that can be part of an identifier.
inline bool IsWordByte(char byte) {
  return std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '_';
}

// Returns the text with comments, strings and character literals replaced by spaces, so that a
// search finds only code. A literal keeps its quotes. Lines and columns do not change.
std::string BlankCommentsAndLiterals(std::string_view text);

struct Include {
  int line = 0;      // From 1.
  std::string path;  // Without its quotes or angle brackets.
};
std::vector<Include> IncludesOf(std::string_view text);

// A function defined at namespace or class level, or a lambda outside of functions: the value of a
// constant, an entry of a table, or an argument of a member's initializer. Lambdas inside a
// function count as part of that function.
struct FunctionBody {
  std::string signature;  // The text before the body.
  int first_line = 0;     // Line of the name or of the lambda's brackets, from 1.
  int last_line = 0;      // Line of the closing brace.
};
std::vector<FunctionBody> FunctionsOf(std::string_view text);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_CPP_TEXT_H_
