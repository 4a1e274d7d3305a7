#include "controller/core/verdict/error_line.h"

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

TEST(ErrorLineTest, IsTheLastLineThatNamesAnError) {
  EXPECT_EQ(ErrorLine("step 1\nValueError: one\nTraceback (most recent call last):\n"
                      "  File \"train.py\", line 3\nmodule.sub.CustomError: two\nbye\n"),
            "module.sub.CustomError: two");
  EXPECT_EQ(ErrorLine("[rank3]: KeyError: 'loss'\n"), "[rank3]: KeyError: 'loss'");
  EXPECT_EQ(ErrorLine("terminate called after throwing an instance of 'E'\n  what():  bad\n"),
            "what():  bad");
  EXPECT_EQ(ErrorLine("a.out: x.c:3: main: Assertion `x > 1' failed.\n"),
            "a.out: x.c:3: main: Assertion `x > 1' failed.");
  EXPECT_EQ(ErrorLine("trainyard-trainer: error: no data\n"), "trainyard-trainer: error: no data");
  EXPECT_EQ(ErrorLine("AssertionError\r\nstep 3\r\n"), "AssertionError");
}

TEST(ErrorLineTest, IsEmptyWhereNoLineNamesAnError) {
  EXPECT_EQ(ErrorLine(""), "");
  EXPECT_EQ(ErrorLine("step 1 loss 2.3\nvalidation error of 3 %\n"), "");
  EXPECT_EQ(ErrorLine("x.py:3: UserWarning: slow\nUserWarning: slow\n"), "") << "a warning";
}

TEST(ErrorLineTest, IsCutBetweenCharacters) {
  std::string line = "ValueError: ";
  while (line.size() < 2 * kMaxErrorLineBytes) line += "ü";
  EXPECT_LE(ErrorLine(line).size(), kMaxErrorLineBytes);
  EXPECT_GE(ErrorLine(line).size(), kMaxErrorLineBytes - 1);
}

TEST(ErrorLineTest, LinesOfMoreThanFourKibibytesAreData) {
  const std::string begin = "ValueError: ";
  EXPECT_NE(ErrorLine(begin + std::string(4096 - begin.size(), 'x')), "");
  EXPECT_EQ(ErrorLine(begin + std::string(4097 - begin.size(), 'x')), "");
}

TEST(ErrorLineTest, NumbersAndAddressesTellNoErrorsApart) {
  EXPECT_TRUE(SameError("IndexError: 17 at 0x7fff12", "IndexError: 4 at 0xabc"));
  EXPECT_FALSE(SameError("IndexError: 17", "KeyError: 17"));
}

}  // namespace
}  // namespace trainyard::controller
