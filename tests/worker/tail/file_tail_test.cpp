#include "worker/tail/file_tail.h"

#include <algorithm>
#include <random>

#include "gmock/gmock.h"
#include "tests/worker/tail/growing_file.h"

namespace trainyard::worker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TailLines Lines(const GrowingFile& file, int64_t offset, const LineReadOptions& options = {}) {
  const absl::StatusOr<TailLines> lines = ReadNewLines(file.path(), offset, options);
  EXPECT_TRUE(lines.ok()) << lines.status();
  return lines.value_or(TailLines());
}

constexpr LineReadOptions kEnded = {.long_lines = LongLines::kSkip, .ended = true};
constexpr LineReadOptions kSplitEnded = {.long_lines = LongLines::kSplit, .ended = true};

TEST(FileTailTest, MissingFileHasNothingNew) {
  const GrowingFile file;
  EXPECT_EQ(ReadNewBytes(file.path(), 0)->data, "");
  EXPECT_THAT(Lines(file, 0, kEnded).lines, IsEmpty());
}

TEST(FileTailTest, GivesBytesFromTheOffset) {
  const GrowingFile file;
  file.Append("hello");
  EXPECT_EQ(ReadNewBytes(file.path(), 0)->data, "hello");
  EXPECT_EQ(ReadNewBytes(file.path(), 2)->data, "llo");
  EXPECT_EQ(ReadNewBytes(file.path(), 2)->begin_offset, 2);
  EXPECT_EQ(ReadNewBytes(file.path(), 1, 3)->data, "ell");
  EXPECT_EQ(ReadNewBytes(file.path(), 5)->data, "");
}

TEST(FileTailTest, ReadsAreBounded) {
  const GrowingFile file;
  file.Append(std::string(kMaxReadBytes + 10, 'x'));
  EXPECT_EQ(ReadNewBytes(file.path(), 0)->data.size(), kMaxReadBytes);
}

TEST(FileTailTest, CutFileIsRefused) {
  const GrowingFile file;
  file.Append("one\ntwo\n");
  file.Cut(3);
  EXPECT_EQ(ReadNewBytes(file.path(), 8).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(ReadNewLines(file.path(), 8, {}).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(ReadNewLines(file.path(), -1, {}).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(ReadNewBytes(file.directory(), 0).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(FileTailTest, UnfinishedLineWaitsUntilTheRankHasEnded) {
  const GrowingFile file;
  file.Append("one\r\n\ntwo\nthr");
  TailLines lines = Lines(file, 0);
  EXPECT_THAT(lines.lines, ElementsAre("one", "", "two"));
  EXPECT_EQ(lines.end_offset, 10);
  EXPECT_EQ(Lines(file, 10).end_offset, 10);
  file.Append("ee\nfour");
  EXPECT_THAT(Lines(file, 10).lines, ElementsAre("three"));
  lines = Lines(file, 16, kEnded);
  EXPECT_THAT(lines.lines, ElementsAre("four"));
  EXPECT_EQ(lines.end_offset, 20);
  EXPECT_THAT(Lines(file, 20, kEnded).lines, IsEmpty());
}

TEST(FileTailTest, CarriageReturnsEndLinesIfAsked) {
  const GrowingFile file;
  file.Append("one\rtwo\r\nthree\n\rfour\rfi");
  EXPECT_THAT(Lines(file, 0).lines, ElementsAre("one\rtwo", "three"));
  const LineReadOptions options = {.long_lines = LongLines::kSplit, .returns_end_lines = true};
  const TailLines lines = Lines(file, 0, options);
  EXPECT_THAT(lines.lines, ElementsAre("one", "two", "three", "", "four"));
  EXPECT_THAT(Lines(file, lines.end_offset, options).lines, IsEmpty());
  file.Append("ve\r");
  EXPECT_THAT(Lines(file, lines.end_offset, options).lines, ElementsAre("five"));
}

TEST(FileTailTest, LongestLineIsGivenAndALongerOneIsBad) {
  const GrowingFile file;
  file.Append(std::string(kMaxLineBytes, 'a'));
  file.Append("\n");
  file.Append(std::string(kMaxLineBytes + 1, 'b'));
  file.Append("\nend\n");
  const TailLines lines = Lines(file, 0);
  EXPECT_THAT(lines.lines, ElementsAre(std::string(kMaxLineBytes, 'a'), "end"));
  EXPECT_EQ(lines.bad_lines, 1);
}

TEST(FileTailTest, EndlessLineIsCountedOnceAcrossReads) {
  const GrowingFile file;
  file.Append("first\n");
  file.Append(std::string(3 * kMaxReadBytes, 'x'));
  int64_t offset = 0;
  int bad_lines = 0;
  std::vector<std::string> all;
  const auto read_on = [&] {
    for (;;) {
      const TailLines lines = Lines(file, offset);
      bad_lines += lines.bad_lines;
      all.insert(all.end(), lines.lines.begin(), lines.lines.end());
      if (lines.end_offset == offset) return;
      offset = lines.end_offset;
    }
  };
  read_on();
  file.Append("still the same line\nlast\n");
  read_on();
  EXPECT_THAT(all, ElementsAre("first", "last"));
  EXPECT_EQ(bad_lines, 1);
}

TEST(FileTailTest, LongLineIsSplitForLogs) {
  const GrowingFile file;
  file.Append(std::string(2 * kMaxLineBytes + 5, 'x'));
  file.Append("\nend");
  const TailLines lines = Lines(file, 0, kSplitEnded);
  ASSERT_EQ(lines.lines.size(), 4);
  EXPECT_EQ(lines.lines[0].size(), kMaxLineBytes);
  EXPECT_EQ(lines.lines[2], "xxxxx");
  EXPECT_EQ(lines.lines[3], "end");
  EXPECT_EQ(lines.bad_lines, 0);
}

// However the file grows and however short the reads are, the lines must equal those of the whole
// file.
TEST(FileTailTest, LinesDoNotDependOnHowReadsFall) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const GrowingFile file;
    std::vector<std::string> written;
    std::vector<std::string> read;
    std::string unwritten;
    int long_lines = 0;
    int bad_lines = 0;
    for (int i = 0; i < 30; ++i) {
      const bool is_long = random() % 10 == 0;
      std::string line(is_long ? kMaxLineBytes + 1 + random() % 300000 : random() % 3000, 'x');
      unwritten += line + "\n";
      long_lines += is_long ? 1 : 0;
      if (!is_long) written.push_back(std::move(line));
    }
    int64_t offset = 0;
    while (true) {
      const std::size_t step = std::min<std::size_t>(unwritten.size(), random() % 200000);
      file.Append(unwritten.substr(0, step));
      unwritten.erase(0, step);
      LineReadOptions options;
      options.max_bytes = kMaxLineBytes + 1 + random() % 100000;
      options.ended = unwritten.empty();
      const TailLines lines = Lines(file, offset, options);
      if (unwritten.empty() && lines.end_offset == offset) break;
      read.insert(read.end(), lines.lines.begin(), lines.lines.end());
      bad_lines += lines.bad_lines;
      offset = lines.end_offset;
    }
    EXPECT_EQ(read, written) << "seed " << seed;
    EXPECT_EQ(bad_lines, long_lines) << "seed " << seed;
  }
}

}  // namespace
}  // namespace trainyard::worker
