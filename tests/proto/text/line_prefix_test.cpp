#include "proto/text/line_prefix.h"

#include <string>

#include "gtest/gtest.h"

namespace trainyard {
namespace {

TEST(LinePrefixTest, LabelsOfRanksAndNodesAreRemoved) {
  for (const char* prefix :
       {"[rank0]: ", "[rank0]:", "31:  ", "0: ", "[default7]: ", "[1,0]<stdout>:", "node-1: ",
        "gpu003: ", "(train_fn pid=1234, ip=10.0.0.1) ", "[titan] ", "[Rank 0] "}) {
    EXPECT_EQ(WithoutLinePrefixes(std::string(prefix) + "iter 5: loss 4.0"), "iter 5: loss 4.0")
        << prefix;
  }
}

TEST(LinePrefixTest, LabelsStateWhichRanksTheyCount) {
  const std::optional<LineLabel> of_job = LineLabelOf("[rank12]: ValueError: x");
  ASSERT_TRUE(of_job.has_value());
  EXPECT_EQ(of_job->number, 12);
  EXPECT_FALSE(of_job->is_local);
  const std::optional<LineLabel> of_launcher = LineLabelOf("[default3]:iter 5: loss 4.0");
  ASSERT_TRUE(of_launcher.has_value());
  EXPECT_EQ(of_launcher->number, 3);
  EXPECT_TRUE(of_launcher->is_local);
  for (const char* line : {"", "iter 5: loss 4.0", "[titan] step: 5", "[rank]: x", "[1,0]: x",
                           "[2026-01-01]: x", "[rank1234567]: x", "x [rank1]: y"}) {
    EXPECT_FALSE(LineLabelOf(line).has_value()) << line;
  }
}

TEST(LinePrefixTest, TimesAndLoggersAreRemoved) {
  for (const char* prefix :
       {"2026-01-01 10:00:00 ", "2026-01-01T10:00:00.123Z ", "10:00:00.5 ",
        "2025-06-16 22:30:48,735 - root - INFO - ", "INFO:root:", "2026-01-01 10:00:00 | INFO | ",
        "[rank0]:[titan] 2025-06-16 22:30:48,735 - root - INFO - ",
        "0: [2026-05-18 16:04:01.123456] ", "I1201 10:00:00.000 1234 train.cc:12] "}) {
    EXPECT_EQ(WithoutLinePrefixes(std::string(prefix) + "iter 5: loss 4.0"), "iter 5: loss 4.0")
        << prefix;
  }
}

TEST(LinePrefixTest, TheLevelOfAnErrorRemains) {
  EXPECT_EQ(WithoutLinePrefixes("2026-01-01 10:00:00,735 - root - ERROR - no data"),
            "ERROR - no data");
}

TEST(LinePrefixTest, OtherTextRemains) {
  for (const char* line :
       {"", "iter 5: loss 4.0", "  File \"train.py\", line 88", "RuntimeError: bad",
        "torch.OutOfMemoryError: CUDA out of memory.", "step 5/10 | loss 3", "12 samples"}) {
    EXPECT_EQ(WithoutLinePrefixes(line), line);
  }
}

TEST(LinePrefixTest, AnEndlessRowOfPrefixesIsCutShort) {
  std::string line;
  for (int i = 0; i < 100; ++i) line += "[a]";
  EXPECT_FALSE(WithoutLinePrefixes(line).empty());
}

}  // namespace
}  // namespace trainyard
