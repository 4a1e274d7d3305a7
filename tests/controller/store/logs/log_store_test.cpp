// Tests the contract of log_store.h on every implementation.
#include "controller/store/logs/log_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/controller/store/contract/store_contract.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LogStoreTest : public StoreContract<LogStore> {
 protected:
  static StreamKey Stream(int64_t attempt_number, int rank) {
    return {1, attempt_number, rank, v1::STREAM_KIND_LOG};
  }

  // Appends at the end of the stream.
  void Add(int64_t attempt_number, int rank, int64_t time_ms, const std::string& data) {
    const int64_t begin = *store_->StoredOffset(Stream(attempt_number, rank));
    const absl::Status status =
        store_->Append({{Stream(attempt_number, rank), begin, time_ms, data}});
    ASSERT_TRUE(status.ok()) << status;
  }

  // Returns "attempt/rank: text" for each line.
  std::vector<std::string> Read(LogQuery query, bool include_partial = false) {
    LogCursor cursor;
    return ReadOn(query, include_partial, cursor);
  }

  std::vector<std::string> ReadOn(LogQuery query, bool include_partial, LogCursor& cursor) {
    query.job_id = 1;
    std::vector<std::string> lines;
    const absl::Status status =
        store_->Read(query, include_partial, cursor, [&](std::vector<v1::LogLine> chunk) {
          EXPECT_FALSE(chunk.empty());
          for (const v1::LogLine& line : chunk) {
            lines.push_back(absl::StrCat(line.attempt(), "/", line.rank(), ": ", line.text()));
          }
          return true;
        });
    EXPECT_TRUE(status.ok()) << status;
    return lines;
  }
};

TEST_P(LogStoreTest, GivesWholeLinesAfterReopening) {
  Add(1, 0, 10, "first\nsec");
  Add(1, 0, 20, "ond\r\n\nunfinished");
  Reopen();
  EXPECT_THAT(Read({}), ElementsAre("1/0: first", "1/0: second", "1/0: "));
  EXPECT_THAT(Read({}, true), ElementsAre("1/0: first", "1/0: second", "1/0: ", "1/0: unfinished"));
  EXPECT_THAT(Read({.attempt = 2}), IsEmpty());
}

TEST_P(LogStoreTest, LineKnowsItsOffsetAndTime) {
  Add(1, 3, 10, "ab\ncd");
  Add(1, 3, 20, "ef\ngh\n");
  std::vector<v1::LogLine> lines;
  LogCursor cursor;
  ASSERT_TRUE(store_
                  ->Read({.job_id = 1}, false, cursor,
                         [&](std::vector<v1::LogLine> chunk) {
                           lines.insert(lines.end(), chunk.begin(), chunk.end());
                           return true;
                         })
                  .ok());
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1].text(), "cdef");
  EXPECT_EQ(lines[1].offset(), 3);
  EXPECT_EQ(lines[1].time_ms(), 10) << "when its first byte was read";
  EXPECT_EQ(lines[2].time_ms(), 20);
  EXPECT_EQ(lines[2].rank(), 3);
  EXPECT_EQ(cursor.at(Stream(1, 3)), 11);
}

TEST_P(LogStoreTest, StoresEachByteOnce) {
  EXPECT_EQ(*store_->StoredOffset(Stream(1, 0)), 0);
  ASSERT_TRUE(store_->Append({{Stream(1, 0), 0, 10, "one\n"}}).ok());
  ASSERT_TRUE(store_->Append({{Stream(1, 0), 0, 20, "one\n"}}).ok());
  ASSERT_TRUE(store_->Append({{Stream(1, 0), 2, 30, "e\ntwo\n"}}).ok());
  EXPECT_EQ(*store_->StoredOffset(Stream(1, 0)), 8);
  EXPECT_THAT(Read({}), ElementsAre("1/0: one", "1/0: two"));
}

TEST_P(LogStoreTest, OneAppendMayHoldSeveralBatchesOfAStream) {
  ASSERT_TRUE(store_
                  ->Append({{Stream(1, 0), 0, 10, "one\nt"},
                            {Stream(1, 0), 5, 10, "wo\n"},
                            {Stream(1, 0), 0, 10, "one\n"},
                            {Stream(1, 0), 8, 10, "three\n"}})
                  .ok());
  EXPECT_THAT(Read({}), ElementsAre("1/0: one", "1/0: two", "1/0: three"));
}

TEST_P(LogStoreTest, HoleIsRefusedAndNothingOfTheAppendStays) {
  const absl::Status status =
      store_->Append({{Stream(1, 0), 0, 10, "one\n"}, {Stream(1, 1), 5, 10, "two\n"}});
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(*store_->StoredOffset(Stream(1, 0)), 0);
  EXPECT_THAT(Read({}), IsEmpty());
  EXPECT_EQ(store_->Append({{{1, 1, 0, v1::STREAM_KIND_TELEMETRY}, 0, 1, "x"}}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store_->Append({{Stream(1, 0), -1, 1, "x"}}).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_P(LogStoreTest, OrdersByAttemptThenTimeThenRank) {
  Add(2, 0, 5, "e\n");
  Add(1, 1, 10, "b\n");
  Add(1, 0, 10, "a\n");
  Add(1, 0, 30, "d\n");
  Add(1, 1, 20, "c\n");
  EXPECT_THAT(Read({}), ElementsAre("1/0: a", "1/1: b", "1/1: c", "1/0: d", "2/0: e"));
  EXPECT_THAT(Read({.ranks = {1}}), ElementsAre("1/1: b", "1/1: c"));
  EXPECT_THAT(Read({.attempt = 2}), ElementsAre("2/0: e"));
  EXPECT_THAT(Read({.tail = 3}), ElementsAre("1/1: c", "1/0: d", "2/0: e"));
}

TEST_P(LogStoreTest, ClockThatGoesBackDoesNotReorderAStream) {
  Add(1, 0, 100, "a\n");
  Add(1, 0, 50, "b\n");
  Add(1, 1, 70, "c\n");
  EXPECT_THAT(Read({}), ElementsAre("1/1: c", "1/0: a", "1/0: b"));
  EXPECT_THAT(Read({.tail = 2}), ElementsAre("1/0: a", "1/0: b"));
}

TEST_P(LogStoreTest, FollowerGetsEachLineOnce) {
  LogCursor cursor;
  Add(1, 0, 10, "a\nb");
  EXPECT_THAT(ReadOn({}, false, cursor), ElementsAre("1/0: a"));
  EXPECT_THAT(ReadOn({}, false, cursor), IsEmpty());
  Add(1, 0, 20, "b\nc\n");
  Add(1, 1, 5, "late\n");
  EXPECT_THAT(ReadOn({}, false, cursor), ElementsAre("1/1: late", "1/0: bb", "1/0: c"));
  Add(1, 0, 30, "end");
  EXPECT_THAT(ReadOn({}, false, cursor), IsEmpty());
  EXPECT_THAT(ReadOn({}, true, cursor), ElementsAre("1/0: end"));
  EXPECT_THAT(ReadOn({}, true, cursor), IsEmpty());
}

TEST_P(LogStoreTest, UnfinishedLineOfAnOlderAttemptIsGiven) {
  Add(1, 0, 10, "died here");
  EXPECT_THAT(Read({}), IsEmpty());
  Add(2, 0, 20, "on\nmore");
  EXPECT_THAT(Read({}), ElementsAre("1/0: died here", "2/0: on"));
  EXPECT_THAT(Read({.tail = 2}), ElementsAre("1/0: died here", "2/0: on"));
}

TEST_P(LogStoreTest, GrepGivesMatchingLinesOnly) {
  Add(1, 0, 10, "loss 3.1\nother\nloss 3.0\nloss");
  LogCursor cursor;
  EXPECT_THAT(ReadOn({.grep = "loss"}, false, cursor),
              ElementsAre("1/0: loss 3.1", "1/0: loss 3.0"));
  EXPECT_THAT(Read({.grep = "loss", .tail = 1}), ElementsAre("1/0: loss 3.0"));
  EXPECT_THAT(Read({.grep = "loss", .tail = 1}, true), ElementsAre("1/0: loss"));
  EXPECT_THAT(Read({.grep = ".*"}), IsEmpty()) << "it is text, not a pattern";
  Add(1, 0, 20, "y\nx\n");
  EXPECT_THAT(ReadOn({.grep = "loss"}, false, cursor), ElementsAre("1/0: lossy"));
}

TEST_P(LogStoreTest, GrepCanIgnoreCase) {
  Add(1, 0, 10, "KeyError: x\nfine\nan ERROR\n");
  EXPECT_THAT(Read({.grep = "error"}), IsEmpty());
  EXPECT_THAT(Read({.grep = "error", .ignore_case = true}),
              ElementsAre("1/0: KeyError: x", "1/0: an ERROR"));
  EXPECT_THAT(Read({.grep = "E.R", .ignore_case = true}), IsEmpty()) << "it is text";
  EXPECT_THAT(Read({.grep = "ERROR", .ignore_case = true, .tail = 1}),
              ElementsAre("1/0: an ERROR"));
}

TEST_P(LogStoreTest, GrepCanBeARegularExpressionOfOneLine) {
  Add(1, 0, 10, "loss 3.1\r\nloss\nx loss 12\nlossy 4");
  EXPECT_THAT(Read({.grep = "^loss [0-9.]+$", .regex = true}), ElementsAre("1/0: loss 3.1"));
  EXPECT_THAT(Read({.grep = "loss\\s\\d", .regex = true}),
              ElementsAre("1/0: loss 3.1", "1/0: x loss 12"));
  EXPECT_THAT(Read({.grep = "loss\\s+x", .regex = true}), IsEmpty()) << "a match is in one line";
  EXPECT_THAT(Read({.grep = "^LOSS", .ignore_case = true, .regex = true}, true),
              ElementsAre("1/0: loss 3.1", "1/0: loss", "1/0: lossy 4"));
  EXPECT_THAT(Read({.grep = "^loss$", .regex = true, .tail = 5}), ElementsAre("1/0: loss"));
}

TEST_P(LogStoreTest, LinesAreSelectedByTheirLevel) {
  Add(1, 0, 10, "step 1\nWARN slow\nKeyError: x\nERROR y\n");
  EXPECT_THAT(Read({.min_level = v1::LOG_LEVEL_WARNING}),
              ElementsAre("1/0: WARN slow", "1/0: KeyError: x", "1/0: ERROR y"));
  EXPECT_THAT(Read({.grep = "y", .min_level = v1::LOG_LEVEL_ERROR}),
              ElementsAre("1/0: KeyError: x", "1/0: ERROR y"));
}

TEST_P(LogStoreTest, ABadRegularExpressionIsRefused) {
  LogCursor cursor;
  const auto ignore = [](std::vector<v1::LogLine>) { return true; };
  for (const char* bad : {"(", "a{1000}{1000}{1000}", "(?=x)"}) {
    const LogQuery query{.job_id = 1, .grep = bad, .regex = true};
    EXPECT_EQ(store_->Read(query, false, cursor, ignore).code(), absl::StatusCode::kInvalidArgument)
        << bad;
    EXPECT_EQ(store_->ReadPage({.lines = query, .limit = 1}, false).status().code(),
              absl::StatusCode::kInvalidArgument)
        << bad;
  }
}

TEST_P(LogStoreTest, TailCountsAllRanksAndMovesTheCursorOverTheRest) {
  for (int i = 0; i < 10; ++i) Add(1, i % 2, i, absl::StrCat("line ", i, "\n"));
  LogCursor cursor;
  EXPECT_THAT(ReadOn({.tail = 3}, false, cursor),
              ElementsAre("1/1: line 7", "1/0: line 8", "1/1: line 9"));
  Add(1, 0, 20, "new\n");
  EXPECT_THAT(ReadOn({}, false, cursor), ElementsAre("1/0: new"));
  EXPECT_THAT(Read({.tail = 100}), testing::SizeIs(11));
}

TEST_P(LogStoreTest, NewOnlyLeavesOutWhatIsStored) {
  Add(1, 0, 1, "old\n");
  Add(1, 1, 2, "old too\nunfin");
  LogCursor cursor;
  EXPECT_THAT(ReadOn({.new_only = true}, false, cursor), IsEmpty());
  Add(1, 1, 3, "ished\n");
  Add(2, 0, 4, "next attempt\n");
  EXPECT_THAT(ReadOn({}, false, cursor), ElementsAre("1/1: unfinished", "2/0: next attempt"));
}

TEST_P(LogStoreTest, BytesThatAreNotUtf8AreReplaced) {
  Add(1, 0, 10, "a\xff\xfe z\n");
  EXPECT_THAT(Read({}), ElementsAre("1/0: a\ufffd\ufffd z"));
  EXPECT_THAT(Read({.grep = "\xff\xfe"}), ElementsAre("1/0: a\ufffd\ufffd z"));
}

TEST_P(LogStoreTest, LongLinesComeInParts) {
  const std::string part(64 * 1024, 'x');
  Add(1, 0, 10, "before\n" + part + part + "rest\nafter\n");
  const std::vector<std::string> expected = {"1/0: before", "1/0: " + part, "1/0: " + part,
                                             "1/0: rest", "1/0: after"};
  EXPECT_EQ(Read({}), expected);
  EXPECT_EQ(Read({.tail = 3}), std::vector<std::string>(expected.end() - 3, expected.end()));
  EXPECT_THAT(Read({.grep = "xrest"}), IsEmpty()) << "each part is searched by itself";
  EXPECT_THAT(Read({.grep = "rest"}), ElementsAre("1/0: rest"));
}

TEST_P(LogStoreTest, StopsEarlyAndGoesOnFromThere) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += std::string(60'000, static_cast<char>('a' + i % 26)) + "\n";
  Add(1, 0, 10, text);
  LogCursor cursor;
  int64_t given = 0;
  const auto take = [&](std::vector<v1::LogLine> lines) {
    std::size_t bytes = 0;
    for (const v1::LogLine& line : lines) bytes += line.text().size();
    EXPECT_LE(bytes, std::size_t{1} << 20);
    given += static_cast<int64_t>(lines.size());
    return false;
  };
  for (int i = 0; i < 60 && given < 60; ++i) {
    const int64_t before = given;
    ASSERT_TRUE(store_->Read({.job_id = 1}, false, cursor, take).ok());
    ASSERT_GT(given, before);
    ASSERT_EQ(cursor.at(Stream(1, 0)), given * 60'001);
  }
  EXPECT_EQ(given, 60);
}

std::vector<std::string> Texts(const LogPage& page) {
  std::vector<std::string> texts;
  for (const v1::LogLine& line : page.lines) texts.push_back(line.text());
  return texts;
}

TEST_P(LogStoreTest, PagesLeadThroughAllLinesInBothDirections) {
  for (int i = 0; i < 60; ++i) {
    Add(1 + i / 30, i % 3, 100 * (i / 5), absl::StrCat("line ", i, "\nand ", i, "\n"));
  }
  std::vector<std::string> all;
  for (const std::string& line : Read({})) all.push_back(line.substr(line.find(": ") + 2));
  for (const bool newer : {true, false}) {
    for (const int limit : {1, 7, 1000}) {
      std::vector<std::string> found;
      LogPageQuery query{.lines = {.job_id = 1}, .newer = newer, .limit = limit};
      while (true) {
        const auto page = store_->ReadPage(query, false);
        ASSERT_TRUE(page.ok()) << page.status();
        const std::vector<std::string> texts = Texts(*page);
        found.insert(newer ? found.end() : found.begin(), texts.begin(), texts.end());
        if (!(newer ? page->more_after : page->more_before)) break;
        ASSERT_EQ(static_cast<int>(texts.size()), limit);
        const v1::LogLine& edge = newer ? page->lines.back() : page->lines.front();
        query.from = LogPosition{edge.attempt(), edge.time_ms(), edge.rank(), edge.offset()};
      }
      EXPECT_EQ(found, all) << newer << " " << limit;
    }
  }
}

TEST_P(LogStoreTest, PageBeginsAtATimeOrAByte) {
  Add(1, 0, 100, "a\n");
  Add(1, 1, 150, "b\n");
  Add(1, 0, 200, "cc\nd\n");
  LogPageQuery query{.lines = {.job_id = 1}, .newer = true, .limit = 10};
  query.from = LogPosition{0, 150, -1, -1};
  EXPECT_THAT(Texts(*store_->ReadPage(query, false)), ElementsAre("b", "cc", "d"));
  query.newer = false;
  EXPECT_THAT(Texts(*store_->ReadPage(query, false)), ElementsAre("a"));
  LogPageQuery byte{.lines = {.job_id = 1, .ranks = {0}, .attempt = 1}, .newer = true, .limit = 10};
  for (const auto& [offset, first] : std::map<int64_t, std::string>{
           {0, "a"}, {1, "a"}, {2, "cc"}, {3, "cc"}, {4, "cc"}, {5, "d"}}) {
    byte.from_offset = offset;
    EXPECT_EQ(Texts(*store_->ReadPage(byte, false)).front(), first) << offset;
  }
  EXPECT_EQ(store_->ReadPage(byte, false)->extents.front().second, 7);
}

TEST_P(LogStoreTest, PageFindsMatchesOnly) {
  for (int i = 0; i < 50; ++i) Add(1, 0, i, absl::StrCat(i % 10 == 0 ? "loss " : "x ", i, "\n"));
  LogPageQuery query{.lines = {.job_id = 1, .grep = "loss"}, .limit = 2};
  const auto page = store_->ReadPage(query, false);
  EXPECT_THAT(Texts(*page), ElementsAre("loss 30", "loss 40"));
  EXPECT_TRUE(page->more_before);
}

TEST_P(LogStoreTest, PageFindsTheNextError) {
  Add(1, 0, 10, "step 1\nERROR a\nstep 2\nERROR b\nERROR c\n");
  LogPageQuery query{
      .lines = {.job_id = 1, .min_level = v1::LOG_LEVEL_ERROR}, .newer = true, .limit = 1};
  query.from = LogPosition{1, 10, 0, 7};
  EXPECT_THAT(Texts(*store_->ReadPage(query, false)), ElementsAre("ERROR b"));
}

TEST_P(LogStoreTest, ContradictoryQueryIsRefused) {
  LogCursor cursor;
  const auto ignore = [](std::vector<v1::LogLine>) { return true; };
  EXPECT_EQ(store_->Read({.job_id = 1, .grep = "a\nb"}, false, cursor, ignore).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store_->Read({.job_id = 1, .tail = -1}, false, cursor, ignore).code(),
            absl::StatusCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(, LogStoreTest, EveryStore(), StoreName);

}  // namespace
}  // namespace trainyard::controller
