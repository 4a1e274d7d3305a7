#include "trainer/checkpoint_tools/commands/readable_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace trainyard::trainer {
namespace {

TEST(ReadableTextTest, CountsAndSizes) {
  EXPECT_EQ(CountText(1, "file"), "1 file");
  EXPECT_EQ(CountText(0, "file"), "0 files");
  EXPECT_EQ(BytesText(1023), "1023 B");
  EXPECT_EQ(BytesText(1024), "1.0 KiB");
  EXPECT_EQ(BytesText((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(BytesText(int64_t{5} << 30), "5.0 GiB");
  EXPECT_EQ(BytesText(std::numeric_limits<int64_t>::max()), "8.0 EiB");
  EXPECT_EQ(ValueText(0.000000123456), "1.235e-07");
  EXPECT_EQ(ValueText(0), "0");
}

TEST(ReadableTextTest, ColumnsAreAsWideAsTheirWidestCell) {
  EXPECT_EQ(TableText({{"NAME", "N"}, {"a", "100"}, {"longer", "1"}}),
            "NAME    N\n"
            "a       100\n"
            "longer  1\n");
}

}  // namespace
}  // namespace trainyard::trainer
