#include "proto/contract/exit_code.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(ExitCodeTest, OnlyMistakesOfTheJobBlameIt) {
  for (const ExitCode code :
       {ExitCode::kUsage, ExitCode::kBadData, ExitCode::kNoInput, ExitCode::kBadConfig}) {
    EXPECT_TRUE(BlamesJob(static_cast<int>(code)));
  }
  for (const ExitCode code :
       {ExitCode::kOk, ExitCode::kPeerLost, ExitCode::kInternal, ExitCode::kCannotWrite,
        ExitCode::kBadCheckpoint, ExitCode::kTryAgain, ExitCode::kFenced, ExitCode::kCannotExecute,
        ExitCode::kCommandNotFound, ExitCode::kTerminated}) {
    EXPECT_FALSE(BlamesJob(static_cast<int>(code)));
  }
  EXPECT_FALSE(BlamesJob(1));
}

TEST(ExitCodeTest, EveryFailureHasAMeaning) {
  for (const int code : {64, 65, 66, 69, 70, 73, 74, 75, 77, 78, 126, 127, 143}) {
    EXPECT_FALSE(ExitCodeMeaning(code).empty()) << code;
  }
  EXPECT_EQ(ExitCodeMeaning(78), "bad configuration");
  EXPECT_EQ(ExitCodeMeaning(0), "");
  EXPECT_EQ(ExitCodeMeaning(1), "");
}

}  // namespace
}  // namespace trainyard
