#include "tests/tidy/literals.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::tidy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Returns every literal as "line: text".
std::vector<std::string> Literals(const std::string& path, const std::string& text) {
  std::vector<std::string> literals;
  for (const Literal& literal : LiteralsOf({path, text})) {
    literals.push_back(std::to_string(literal.line) + ": " + literal.text);
  }
  return literals;
}

TEST(LiteralsTest, CppLiterals) {
  EXPECT_THAT(
      Literals("a.cpp", "#include \"b.h\"\n// \"no\"\nf(\"yes\", '\"', 1'000, \"a\\\"b\");"),
      ElementsAre("3: yes", "3: a\\\"b"));
  EXPECT_THAT(Literals("a.h", "auto a = R\"x(one \"two\")x\";\nint b;  /* \"no\" */ f(\"c\");"),
              ElementsAre("1: one \"two\"", "2: c"));
  EXPECT_THAT(Literals("a.cpp", "f(\"one \"\n  \"two\\nthree\",\n  \"four\");"),
              ElementsAre("1: one two\nthree", "3: four"));
  EXPECT_THAT(Literals("a.md", "\"no\""), IsEmpty());
}

TEST(LiteralsTest, TypeScriptLiterals) {
  EXPECT_THAT(Literals("a.ts", "f('one ' +\n  `two ${x ? 'in' : y} three`);\ng(\"four\");"),
              ElementsAre("2: in", "1: one two … three", "3: four"));
  EXPECT_THAT(Literals("a.ts", "if (a > b) f('it\\'s'); // 'no'"), ElementsAre("1: it\\'s"));
}

TEST(LiteralsTest, TextOfElements) {
  EXPECT_THAT(Literals("a.tsx", "<p class=\"x\">\n  The controller's token\n</p>"),
              ElementsAre("1: x", "2: The controller's token\n"));
  EXPECT_THAT(Literals("a.tsx", "<p>Showing the first {N} of all. <b>More</b></p>"),
              ElementsAre("1: Showing the first ", "1: of all. "));
  EXPECT_THAT(Literals("a.tsx", "{n > 0 && <p>one two</p>}\nconst f = () => { return g(h); };"),
              ElementsAre("1: one two"));
}

}  // namespace
}  // namespace trainyard::tidy
