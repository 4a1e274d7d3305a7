#include "controller/core/verdict/line_level.h"

#include <string>

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

TEST(LineLevelTest, FormsOfErrors) {
  for (const char* line : {
           "2026-11-28 12:00:00,123 ERROR trainer: cannot read the batch",
           "KeyError: 'weight'",
           "[rank3]: ValueError: no such file",
           "Traceback (most recent call last):",
           "[rank0]:[E1128 12:00:00.000000000 ProcessGroupNCCL.cpp:552] watchdog timeout",
           "E1128 12:00:00.000000 1 main.cc:9] failed",
           "error: cannot open tokens.bin",
           R"({"level":"error","msg":"out of memory"})",
           "time=12:00 level=fatal msg=stop",
           "\x1b[31mERROR\x1b[0m disk full",
           "RuntimeError: CUDA error: device-side assert triggered",
           "checkpoint at step 20 FAILED: No space left on device",
       }) {
    EXPECT_EQ(LevelOf(line), v1::LOG_LEVEL_ERROR) << line;
  }
}

TEST(LineLevelTest, FormsOfWarnings) {
  for (const char* line : {
           "WARN checkpoint writer is 3 s behind",
           "[WARNING] slow data",
           "/usr/lib/python3/a.py:3: UserWarning: deprecated",
           "W1128 12:00:00.000000 1 main.cc:9] slow",
           "warning: no GPU",
           "level=warning msg=slow",
       }) {
    EXPECT_EQ(LevelOf(line), v1::LOG_LEVEL_WARNING) << line;
  }
}

TEST(LineLevelTest, OrdinaryLinesStateNoLevel) {
  for (const char* line : {
           "step 3 loss 2.1 errors 0",
           "error rate 0.02, no errors",
           "INFO started",
           "loaded ErrorCorrection.bin",
           "",
       }) {
    EXPECT_EQ(LevelOf(line), v1::LOG_LEVEL_UNSPECIFIED) << line;
  }
  EXPECT_EQ(LevelOf(std::string(2000, 'x') + " ERROR"), v1::LOG_LEVEL_UNSPECIFIED);
}

}  // namespace
}  // namespace trainyard::controller
