#include "tests/tidy/length_rules.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::tidy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string Lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "x\n";
  return text;
}

TEST(LengthRulesTest, SupportSize) {
  EXPECT_THAT(
      CheckSupportSize({{"proto/support/a.cpp", Lines(500)}, {"proto/support/b.h", Lines(301)}}),
      ElementsAre(HasSubstr("801 lines")));
  EXPECT_THAT(
      CheckSupportSize({{"proto/support/a.cpp", Lines(800)}, {"proto/jobspec/b.h", Lines(301)}}),
      IsEmpty());
}

TEST(LengthRulesTest, Lengths) {
  EXPECT_THAT(CheckFileLengths({{"a.cpp", Lines(499)}, {"b.md", Lines(900)}}), IsEmpty());
  for (const char* path : {"a.cpp", "a.proto", "a.sh", "a.py", "a.tsx", "a.css"}) {
    EXPECT_THAT(CheckFileLengths({{path, Lines(500)}}), ElementsAre(HasSubstr("500 lines; split")))
        << path;
  }
  EXPECT_THAT(CheckFunctionLengths({{"a.cpp", "void F() {\n" + Lines(58) + "}\n"}}), IsEmpty());
  EXPECT_THAT(CheckFunctionLengths({{"a.cpp", "\nvoid F() {\n" + Lines(59) + "}\n"}}),
              ElementsAre("a.cpp:2: 61 lines: void F()"));
  EXPECT_THAT(CheckFunctionLengths({{"a.cpp", "A::A()\n    : b_(" + Lines(57) + ") {\n}\n"}}),
              IsEmpty());
  EXPECT_THAT(CheckFunctionLengths({{"a.cpp", "A::A()\n    : b_(" + Lines(58) + ") {\n}\n"}}),
              ElementsAre(HasSubstr("a.cpp:1: 61 lines: A::A()")));
  EXPECT_THAT(CheckFunctionLengths({{"a.cpp", "const auto kF = [] {\n" + Lines(59) + "};\n"}}),
              ElementsAre(HasSubstr("a.cpp:1: 61 lines")));
  EXPECT_THAT(CheckFunctionLengths(
                  {{"a.cpp", "// Generated from a.proto\nvoid F() {\n" + Lines(59) + "}\n"}}),
              IsEmpty());
  EXPECT_THAT(CheckFunctionLengths({{"a.cpp", "constexpr int kA[] = {\n" + Lines(59) + "};\n"}}),
              IsEmpty());
}

}  // namespace
}  // namespace trainyard::tidy
