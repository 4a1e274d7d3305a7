// Just enough understanding of C++ to check rules on it.
#ifndef TRAINYARD_TESTS_TIDY_CPP_TEXT_H_
#define TRAINYARD_TESTS_TIDY_CPP_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::tidy {

// The same text with comments and the insides of literals blanked. Lines stay where they are.
std::string BlankCommentsAndLiterals(std::string_view text);

// The path between quotes or angle brackets after #include.
struct Include {
  int line = 0;
  std::string path;
};
std::vector<Include> IncludesOf(std::string_view text);

// A function that is defined at namespace or class level, by its body's braces.
struct FunctionBody {
  std::string signature;
  int first_line = 0;
  int last_line = 0;
};
std::vector<FunctionBody> FunctionsOf(std::string_view text);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_CPP_TEXT_H_
