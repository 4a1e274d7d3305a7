#include "data/documents/bad_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace trainyard::data {
namespace {

using testing::HasSubstr;

const InputFile kFirst = {"/in/a.jsonl", InputKind::kJsonLines, 0, Compression::kNone};
const InputFile kSecond = {"/in/b.jsonl", InputKind::kJsonLines, 0, Compression::kNone};

RawBlock Block(const InputFile& file, bool begins_file) {
  RawBlock block;
  block.file = &file;
  block.begins_file = begins_file;
  return block;
}

// `lines` good or bad lines, with bad ones at `bad`, counted from 0.
BlockLines Lines(int64_t lines, const std::vector<int64_t>& bad) {
  BlockLines result;
  result.line_ends = lines;
  result.lines = lines;
  for (const int64_t line : bad) {
    result.bad.push_back({line, BadLineKind::kNotJson, "not valid JSON"});
  }
  return result;
}

std::vector<int64_t> AllOf(int64_t count) {
  std::vector<int64_t> lines;
  for (int64_t line = 0; line < count; ++line) lines.push_back(line);
  return lines;
}

TEST(BadLineLogTest, NumbersLinesOfEachFileAcrossBlocks) {
  BadLineLog log({.stop = false, .max_fraction = 1});
  ASSERT_TRUE(log.Add(Block(kFirst, true), Lines(10, {0, 9})).ok());
  ASSERT_TRUE(log.Add(Block(kFirst, false), Lines(0, {})).ok());
  ASSERT_TRUE(log.Add(Block(kFirst, false), Lines(5, {2})).ok());
  ASSERT_TRUE(log.Add(Block(kSecond, true), Lines(7, {6})).ok());
  ASSERT_TRUE(log.Finish().ok());
  EXPECT_EQ(log.bad(), 4);
  EXPECT_EQ(log.lines(), 22);
  std::vector<std::string> places;
  std::istringstream text(log.ToJsonLines());
  for (std::string line; std::getline(text, line);) {
    const auto object = nlohmann::json::parse(line);
    EXPECT_EQ(object["kind"], "not_json");
    EXPECT_EQ(object["cause"], "not valid JSON");
    places.push_back(object["file"].get<std::string>() + ":" + object["line"].dump());
  }
  EXPECT_THAT(places, testing::ElementsAre("/in/a.jsonl:1", "/in/a.jsonl:10", "/in/a.jsonl:13",
                                           "/in/b.jsonl:7"));
}

TEST(BadLineLogTest, TheFractionIsCheckedAtTheEnd) {
  BadLineLog log({.stop = false, .max_fraction = 0.001});
  ASSERT_TRUE(log.Add(Block(kFirst, true), Lines(100, {5})).ok());
  const absl::Status status = log.Finish();
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_EQ(status.message(),
            "1 of 100 lines are bad, first /in/a.jsonl:6: not valid JSON; correct the lines, or "
            "allow more with --bad-fraction (now 0.001)");
  ASSERT_TRUE(log.Add(Block(kFirst, false), Lines(900, {})).ok());
  EXPECT_TRUE(log.Finish().ok());
}

TEST(BadLineLogTest, ManyBadLinesStopTheRunEarly) {
  BadLineLog log({.stop = false, .max_fraction = 0.001});
  EXPECT_TRUE(log.Add(Block(kFirst, true), Lines(100, AllOf(100))).ok());
  EXPECT_TRUE(absl::IsDataLoss(log.Add(Block(kFirst, false), Lines(1, {0}))));
}

TEST(BadLineLogTest, StopNamesTheFirstBadLine) {
  BadLineLog log({.stop = true, .max_fraction = 1});
  ASSERT_TRUE(log.Add(Block(kFirst, true), Lines(100, {})).ok());
  const absl::Status status = log.Add(Block(kFirst, false), Lines(100, {7, 9}));
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_EQ(status.message(),
            "/in/a.jsonl:108: not valid JSON; correct the line, or pass --bad skip to omit such "
            "lines");
}

TEST(BadLineLogTest, KeepsABoundedNumberOfLines) {
  BadLineLog log({.stop = false, .max_fraction = 1});
  ASSERT_TRUE(log.Add(Block(kFirst, true), Lines(20000, AllOf(20000))).ok());
  const std::string text = log.ToJsonLines();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10000);
  EXPECT_EQ(log.Examples(20000).size(), 10000u);
  EXPECT_EQ(log.bad(), 20000);
}

TEST(BadLineLogTest, TheSummaryCountsKinds) {
  BadLineLog log({.stop = false, .max_fraction = 1});
  BlockLines lines = Lines(5000, {1, 2});
  lines.bad.push_back({3, BadLineKind::kTooLong, "long"});
  lines.repaired = 4;
  ASSERT_TRUE(log.Add(Block(kFirst, true), lines).ok());
  EXPECT_EQ(log.Summary(), "3 of 5000 lines skipped: 2 not JSON, 1 too long");
  EXPECT_EQ(log.repaired(), 4);
}

TEST(BadLineLogTest, ListsKindsAndTheFirstLines) {
  BadLineLog log({.stop = false, .max_fraction = 1});
  BlockLines lines = Lines(5000, {1, 2});
  lines.bad.push_back({3, BadLineKind::kTooLong, "long"});
  ASSERT_TRUE(log.Add(Block(kFirst, true), lines).ok());
  EXPECT_THAT(log.Kinds(),
              testing::ElementsAre(testing::Pair("not_json", 2), testing::Pair("too_long", 1)));
  EXPECT_EQ(log.Examples(2).size(), 2u);
  const std::vector<BadLineExample> all = log.Examples(9);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].file, "/in/a.jsonl");
  EXPECT_EQ(all[0].line, 2);
  EXPECT_EQ(all[2].kind, "too_long");
  EXPECT_EQ(all[2].cause, "long");
}

TEST(BadLineLogTest, APathThatIsNotUtf8IsWritten) {
  const InputFile file = {"/in/\xFF.jsonl", InputKind::kJsonLines, 0, Compression::kNone};
  BadLineLog log({.stop = false, .max_fraction = 1});
  ASSERT_TRUE(log.Add(Block(file, true), Lines(1, {0})).ok());
  EXPECT_THAT(log.ToJsonLines(), HasSubstr("\"/in/\xEF\xBF\xBD.jsonl\""));
}

}  // namespace
}  // namespace trainyard::data
