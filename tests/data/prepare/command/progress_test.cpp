#include "data/prepare/command/progress.h"

#include <gtest/gtest.h>

namespace trainyard::data {
namespace {

class ProgressTest : public testing::Test {
 protected:
  Progress::Settings Settings(bool is_terminal) {
    Progress::Settings settings;
    settings.is_terminal = is_terminal;
    settings.print = [this](const std::string& text) { printed_ += text; };
    settings.seconds = [this] { return now_; };
    return settings;
  }

  double now_ = 100;
  std::string printed_;
};

TEST_F(ProgressTest, ATerminalGetsABarThatGoesAway) {
  Progress progress(Settings(true));
  progress.Start("tokenizing", 100000000);
  progress.Advance(1000);
  EXPECT_EQ(printed_, "");  // too soon after the start
  now_ += 5;
  progress.Advance(25000000 - 1000);
  EXPECT_EQ(printed_,
            "\rtokenizing [######..................]  25% of 100.0 MB  5.0 MB/s  15s left\x1b[K");
  printed_.clear();
  progress.Stop();
  EXPECT_EQ(printed_, "\r\x1b[K");
}

TEST_F(ProgressTest, ElsewhereALineNowAndThen) {
  Progress progress(Settings(false));
  progress.Start("tokenizing", 1000);
  now_ += 5;
  progress.Advance(100);
  EXPECT_EQ(printed_, "");
  now_ += 5;
  progress.Advance(400);
  EXPECT_EQ(printed_, "tokenizing  50% of 1.0 kB  50 B/s  10s left\n");
  progress.Stop();
  EXPECT_EQ(printed_, "tokenizing  50% of 1.0 kB  50 B/s  10s left\n");
}

TEST_F(ProgressTest, QuietPrintsNothing) {
  Progress::Settings settings = Settings(true);
  settings.print = nullptr;
  Progress progress(settings);
  progress.PrintLine("x");
  progress.Start("tokenizing", 0);
  now_ += 100;
  progress.Advance(10);
  progress.Stop();
  EXPECT_EQ(printed_, "");
}

TEST(ReadableTest, BytesAndCounts) {
  EXPECT_EQ(ReadableBytes(0), "0 B");
  EXPECT_EQ(ReadableBytes(999), "999 B");
  EXPECT_EQ(ReadableBytes(999'999), "1.0 MB");
  EXPECT_EQ(ReadableBytes(9123456), "9.1 MB");
  EXPECT_EQ(ReadableBytes(4200000000000000), "4200.0 TB");
  EXPECT_EQ(ReadableCount(0), "0");
  EXPECT_EQ(ReadableCount(999), "999");
  EXPECT_EQ(ReadableCount(1234567), "1,234,567");
}

}  // namespace
}  // namespace trainyard::data
