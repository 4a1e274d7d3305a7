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
  EXPECT_THAT(CheckFileLengths({{"a.cpp", Lines(600)}, {"b.md", Lines(900)}}), IsEmpty());
  EXPECT_THAT(CheckFileLengths({{"a.cpp", Lines(601)}}), ElementsAre("a.cpp:600: 601 lines"));
  EXPECT_THAT(CheckFunctionLengths({{"a.cpp", "void F() {\n" + Lines(58) + "}\n"}}), IsEmpty());
  EXPECT_THAT(CheckFunctionLengths({{"a.cpp", "\nvoid F() {\n" + Lines(59) + "}\n"}}),
              ElementsAre("a.cpp:2: 61 lines: void F()"));
}

}  // namespace
}  // namespace trainyard::tidy
