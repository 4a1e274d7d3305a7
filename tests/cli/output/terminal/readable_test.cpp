#include "cli/output/terminal/readable.h"

#include <limits>

#include "gtest/gtest.h"

namespace trainyard::cli {
namespace {

TEST(ReadableTest, IsoTimeIsUtcWithMilliseconds) {
  EXPECT_EQ(IsoTime(0), "");
  EXPECT_EQ(IsoTime(1795262400250), "2026-11-21T12:00:00.250Z");
  EXPECT_EQ(IsoTime(-1), "1969-12-31T23:59:59.999Z");
}

TEST(ReadableTest, AgoToleratesClocksThatDiffer) {
  EXPECT_EQ(AgoText(0, 1000), "-");
  EXPECT_EQ(AgoText(5000, 1000), "now");
  EXPECT_EQ(AgoText(1000, 63000), "1m02s ago");
  EXPECT_EQ(AgeText(0, 1000), "-");
  EXPECT_EQ(AgeText(1000, 63000), "1m02s");
}

TEST(ReadableTest, ReadsDurations) {
  EXPECT_EQ(ParseDurationText("30"), 30000);
  EXPECT_EQ(ParseDurationText("1h30m"), 5400000);
  EXPECT_EQ(ParseDurationText("250ms"), 250);
  for (const char* text : {"", "soon", "-1s", "10 m", "1e9h"}) {
    EXPECT_EQ(ParseDurationText(text), -1) << text;
  }
}

TEST(ReadableTest, NumbersAreCompact) {
  EXPECT_EQ(CompactNumber(0), "0");
  EXPECT_EQ(CompactNumber(950), "950");
  EXPECT_EQ(CompactNumber(999.7), "1k");
  EXPECT_EQ(CompactNumber(68612), "68.6k");
  EXPECT_EQ(CompactNumber(1.2e6), "1.2M");
  EXPECT_EQ(CompactNumber(-5120), "-5.12k");
  EXPECT_EQ(CompactNumber(std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(BytesText(512), "512 B");
  EXPECT_EQ(BytesText(1536), "1.5 KiB");
  EXPECT_EQ(BytesText(int64_t{2} << 30), "2.0 GiB");
}

TEST(ReadableTest, AbsentValuesAreADash) {
  EXPECT_EQ(TextOrNothing(""), "-");
  EXPECT_EQ(TextOrNothing("x"), "x");
  EXPECT_EQ(CountText(0), "-");
  EXPECT_EQ(CountText(12), "12");
}

TEST(ReadableTest, LabelsAreAligned) {
  EXPECT_EQ(LabelLine("State", "a\nb"), "  State       a b\n");
  EXPECT_EQ(LabelLine("A long label", "x"), "  A long label x\n");
}

TEST(ReadableTest, CutsByCodePoints) {
  EXPECT_EQ(CutToWidth("größe", 5), "größe");
  EXPECT_EQ(CutToWidth("größe", 4), "grö…");
  EXPECT_EQ(CutToWidth("abc", 1), "…");
  EXPECT_EQ(CutToWidth("abc", 0), "");
  EXPECT_EQ(DisplayWidth("größe"), 5);
}

TEST(ReadableTest, ControlCharactersDoNotReachTheTerminal) {
  EXPECT_EQ(OneLine("a\n\033[2Jb\x7f"), "a \\u001b[2Jb\\u007f");
}

TEST(ReadableTest, ALossThatIsNotFiniteIsSpelledAsOnThePage) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(LossText(std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(LossText(kInfinity), "Inf");
  EXPECT_EQ(LossText(-kInfinity), "-Inf");
}

TEST(ReadableTest, ALossThatIsOlderThanTheStepHasItsStep) {
  v1::Progress progress;
  progress.set_step(40);
  progress.set_loss(3.5);
  EXPECT_EQ(LossText(progress), "3.5000") << "an older controller sends no step";
  progress.set_loss_step(29);
  EXPECT_EQ(LossText(progress), "3.5000 (step 29)");
  progress.set_loss_step(40);
  EXPECT_EQ(LossText(progress), "3.5000");
}

}  // namespace
}  // namespace trainyard::cli
