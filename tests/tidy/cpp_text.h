// Approximate parser for C++ source text: finds the constructs checked by the rules of tests/tidy.
#ifndef TRAINYARD_TESTS_TIDY_CPP_TEXT_H_
#define TRAINYARD_TESTS_TIDY_CPP_TEXT_H_

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::tidy {

// True for the characters of identifiers.
inline bool IsWordByte(char byte) {
  return std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '_';
}

// The same text with comments, strings and character literals replaced by spaces, so that a search
// finds code only. A literal keeps its closing quote. Lines and columns stay the same.
std::string BlankCommentsAndLiterals(std::string_view text);

struct Include {
  int line = 0;      // From 1.
  std::string path;  // Without its quotes or angle brackets.
};
std::vector<Include> IncludesOf(std::string_view text);

// A function that is defined at namespace or class level, or a lambda outside of functions: the
// value of a constant, an entry of a table, an argument of a member's initializer. Lambdas inside a
// function count as part of it.
struct FunctionBody {
  std::string signature;  // The text before the body.
  int first_line = 0;     // Line of the name, or of the lambda's brackets, from 1.
  int last_line = 0;      // Line of the closing brace. Initializers of members lie between the two.
};
std::vector<FunctionBody> FunctionsOf(std::string_view text);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_CPP_TEXT_H_
