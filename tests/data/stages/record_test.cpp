#include "data/stages/record.h"

#include <gtest/gtest.h>

namespace trainyard::data {
namespace {

BlockRecord Example() {
  BlockRecord record;
  record.block = 7;
  record.counts = {10, 8, 1000, 900, {{"words", {2, 100, {{3, 0}, {4, 5}}}}}};
  record.counts.files = {{3, 4, 3, 400, 300}, {4, 6, 5, 600, 600}};
  record.counts.lengths = {{7, 5}, {8, 3}};
  record.counts.is_dropped = std::vector<bool>(10);
  record.counts.is_dropped[9] = true;
  FileLines lines = {3, {12, 11, 1, {{4, BadLineKind::kNotUtf8, "not \xFF UTF-8"}}}};
  lines.lines.unlisted[2] = 5;
  record.lines = {lines};
  record.parts = {{"part-00007.jsonl.zst", 50, 0xFEDCBA9876543210}};
  record.seconds = 1.5;
  return record;
}

TEST(RecordTest, ReadsWhatItWrote) {
  std::string line = RecordLine(Example(), "hash");
  ASSERT_EQ(line.back(), '\n');
  line.pop_back();
  const auto read = ParseRecord(line, "hash");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->block, 7u);
  EXPECT_EQ(read->counts.bytes_out, 900);
  EXPECT_EQ(read->counts.dropped.at("words").samples[1].line, 5);
  EXPECT_EQ(read->counts.files[1].bytes_out, 600);
  EXPECT_EQ(read->counts.lengths, Example().counts.lengths);
  EXPECT_EQ(read->counts.is_dropped, Example().counts.is_dropped);
  EXPECT_EQ(read->lines[0].lines.bad[0].kind, BadLineKind::kNotUtf8);
  EXPECT_EQ(read->lines[0].lines.unlisted[2], 5);
  EXPECT_EQ(read->parts[0].xxh64, 0xFEDCBA9876543210);
  EXPECT_EQ(RecordLine(*read, "hash"), line + "\n");
  EXPECT_FALSE(ParseRecord(line, "other"));
}

TEST(RecordTest, RefusesEveryDamage) {
  std::string line = RecordLine(Example(), "hash");
  line.pop_back();
  for (size_t at = 0; at < line.size(); ++at) {
    EXPECT_FALSE(ParseRecord(line.substr(0, at), "hash"));
    std::string damaged = line;
    damaged[at] ^= 4;
    EXPECT_FALSE(ParseRecord(damaged, "hash")) << at;
  }
}

}  // namespace
}  // namespace trainyard::data
