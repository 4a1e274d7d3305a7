// Tests that need a store on disk: merged segments, crashes, damage, threads.
#include "controller/store/logs/sqlite_log_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "controller/store/logs/memory_log_store.h"
#include "tests/controller/store/child_process.h"
#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

std::unique_ptr<LogStore> OpenLogStore(const std::string& path) {
  auto opened = SqliteLogStore::Open(path);
  EXPECT_TRUE(opened.ok()) << opened.status();
  return opened.ok() ? *std::move(opened) : nullptr;
}

StreamKey Stream(int64_t attempt_number, int rank) {
  return {1, attempt_number, rank, v1::STREAM_KIND_LOG};
}

std::vector<std::string> ReadAll(LogStore& store, const LogQuery& query, bool include_partial,
                                 LogCursor& cursor) {
  std::vector<std::string> lines;
  const absl::Status status =
      store.Read(query, include_partial, cursor, [&](std::vector<v1::LogLine> chunk) {
        for (const v1::LogLine& line : chunk) lines.push_back(line.SerializeAsString());
        return true;
      });
  EXPECT_TRUE(status.ok()) << status;
  return lines;
}

// Generates output of several ranks and attempts: short lines, empty lines, lines above the length
// limit, and bytes that are not text. A chunk may end anywhere.
class RandomOutput {
 public:
  explicit RandomOutput(unsigned seed) : random_(seed) {}

  void AddTo(const std::vector<LogStore*>& stores, int appends) {
    for (int i = 0; i < appends; ++i) {
      const StreamKey stream = Stream(1 + random_() % 2, static_cast<int>(random_() % 3));
      std::string& unsent = unsent_[stream];
      while (unsent.size() < 20'000) unsent += Line();
      const std::size_t size = random_() % 4 == 0 ? random_() % 20'000 : random_() % 200;
      time_ += static_cast<int64_t>(random_() % 3);
      LogBatch batch{stream, sent_[stream], time_, unsent.substr(0, size)};
      unsent.erase(0, size);
      sent_[stream] += static_cast<int64_t>(size);
      for (LogStore* store : stores) ASSERT_TRUE(store->Append({batch}).ok());
    }
  }

 private:
  std::string Line() {
    const unsigned kind = random_() % 400;
    if (kind == 0) return std::string(random_() % 200'000, "ab\xe2\x80"[random_() % 4]);
    if (kind < 20) return kind % 2 == 0 ? "\n" : "\r\n";
    return absl::StrCat("step ", random_() % 1000, " loss ", random_() % 100,
                        kind < 40 ? " \xff" : "", kind < 60 ? " spike" : "", "\n");
  }

  std::mt19937 random_;
  std::map<StreamKey, std::string> unsent_;
  std::map<StreamKey, int64_t> sent_;
  int64_t time_ = 1000;
};

TEST(SqliteLogStoreTest, ReadsAsThePlainStoreDoes) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    TemporaryDirectory temporary;
    auto store = OpenLogStore(temporary.File("logs.db"));
    MemoryLogStore plain;
    RandomOutput output(seed);
    LogCursor follower;
    LogCursor plain_follower;
    for (int round = 0; round < 10; ++round) {
      output.AddTo({store.get(), &plain}, 60);
      LogQuery query{.job_id = 1};
      ASSERT_EQ(ReadAll(*store, query, false, follower),
                ReadAll(plain, query, false, plain_follower));
      ASSERT_EQ(follower, plain_follower);
      for (const int64_t tail : {0, 1, 17, 3000}) {
        query.tail = tail;
        query.grep = round % 2 == 0 ? "" : "spike";
        query.attempt = round % 3;
        if (round % 4 == 3) query.ranks = {0, 2};
        LogCursor cursor;
        LogCursor plain_cursor;
        const bool include_partial = round % 5 == 4;
        ASSERT_EQ(ReadAll(*store, query, include_partial, cursor),
                  ReadAll(plain, query, include_partial, plain_cursor))
            << "seed " << seed << ", round " << round << ", tail " << tail;
        ASSERT_EQ(cursor, plain_cursor);
      }
    }
  }
}

std::string NumberedLines(int64_t first, int64_t last) {
  std::string text;
  for (int64_t i = first; i <= last; ++i) absl::StrAppend(&text, "line number ", i, "\n");
  return text;
}

class SqliteLogStoreFileTest : public testing::Test {
 protected:
  int64_t Count(const std::string& sql) {
    auto database = SqliteDatabase::Open(path_, SqliteDatabase::Mode::kWriter);
    auto count = (*database)->QueryInt64(sql);
    EXPECT_TRUE(count.ok()) << count.status();
    return count.ok() ? *count : -1;
  }

  absl::Status Change(const std::string& sql) {
    auto database = SqliteDatabase::Open(path_, SqliteDatabase::Mode::kWriter);
    return database.ok() ? (*database)->RunScript(sql) : database.status();
  }

  void Fill(int64_t lines) {
    auto store = OpenLogStore(path_);
    int64_t offset = 0;
    for (int64_t first = 1; first <= lines; first += 100) {
      const std::string text = NumberedLines(first, first + 99);
      ASSERT_TRUE(store->Append({{Stream(1, 0), offset, first, text}}).ok());
      offset += static_cast<int64_t>(text.size());
    }
  }

  absl::Status Read(const LogQuery& query) {
    LogCursor cursor;
    return OpenLogStore(path_)->Read(query, false, cursor,
                                     [](std::vector<v1::LogLine>) { return true; });
  }

  TemporaryDirectory temporary_;
  const std::string path_ = temporary_.File("logs.db");
};

TEST_F(SqliteLogStoreFileTest, SmallSegmentsAreMergedAndCompressed) {
  Fill(100'000);
  const int64_t bytes = Count("SELECT SUM(length) FROM segment");
  EXPECT_EQ(Count("SELECT end_offset FROM log_stream"), bytes);
  EXPECT_EQ(Count("SELECT COUNT(*) FROM segment WHERE length = 262144"), bytes / 262144);
  EXPECT_LT(Count("SELECT COUNT(*) FROM segment"), bytes / 262144 + 262144 / 1500);
  EXPECT_LT(Count("SELECT SUM(length(block)) FROM segment"), bytes / 3);
}

TEST_F(SqliteLogStoreFileTest, TailReadsOnlyTheEnd) {
  Fill(100'000);
  ASSERT_TRUE(Change("UPDATE segment SET block = X'00' WHERE begin_offset = 0").ok());
  EXPECT_TRUE(Read({.job_id = 1, .tail = 1000}).ok());
  const absl::Status status = Read({.job_id = 1});
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("segment at byte 0"));
}

TEST_F(SqliteLogStoreFileTest, SearchEndsOnceItsReaderIsGone) {
  Fill(100'000);
  std::atomic<bool> abandoned = false;
  LogQuery query{.job_id = 1, .abandoned = &abandoned};
  LogCursor cursor;
  int chunks = 0;
  const absl::Status status =
      OpenLogStore(path_)->Read(query, false, cursor, [&](std::vector<v1::LogLine>) {
        ++chunks;
        abandoned = true;
        return true;
      });
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  // Chunks unpacked before the cancellation are
  // still delivered. The log has over twenty chunks.
  EXPECT_LE(chunks, 4);
}

TEST_F(SqliteLogStoreFileTest, FindsMissingAndMisplacedSegments) {
  Fill(100'000);
  ASSERT_TRUE(Change("UPDATE segment SET block = (SELECT block FROM segment WHERE "
                     "begin_offset = 0) WHERE begin_offset = 262144")
                  .ok());
  EXPECT_EQ(Read({.job_id = 1}).code(), absl::StatusCode::kDataLoss);
  ASSERT_TRUE(Change("DELETE FROM segment WHERE begin_offset = 262144").ok());
  EXPECT_EQ(Read({.job_id = 1}).code(), absl::StatusCode::kDataLoss);
}

void AppendLinesForever(const std::string& path, int report_fd) {
  auto store = SqliteLogStore::Open(path);
  if (!store.ok()) _exit(2);
  int64_t offset = 0;
  for (int64_t first = 1;; first += 300) {
    const std::string text = NumberedLines(first, first + 299);
    if (!(*store)->Append({{Stream(1, 0), offset, first, text}}).ok()) _exit(3);
    offset += static_cast<int64_t>(text.size());
    ChildProcess::Report(report_fd, first + 299);
  }
}

TEST(SqliteLogStoreTest, KilledAtAnyMomentHoldsWhatItAcknowledged) {
  std::mt19937 random(13);
  for (int round = 0; round < 8; ++round) {
    TemporaryDirectory temporary;
    const std::string path = temporary.File("logs.db");
    ChildProcess child([&](int report_fd) { AppendLinesForever(path, report_fd); });
    int64_t acknowledged = 0;
    const int reports = static_cast<int>(random() % 150) + 1;
    for (int i = 0; i < reports; ++i) ASSERT_TRUE(child.Read(acknowledged));
    child.Kill();
    while (child.Read(acknowledged)) {
    }
    auto store = OpenLogStore(path);
    LogCursor cursor;
    int64_t lines = 0;
    const absl::Status status =
        store->Read({.job_id = 1}, true, cursor, [&](std::vector<v1::LogLine> chunk) {
          for (const v1::LogLine& line : chunk) {
            EXPECT_EQ(line.text(), absl::StrCat("line number ", ++lines));
          }
          return true;
        });
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_TRUE(lines == acknowledged || lines == acknowledged + 300) << lines;
    EXPECT_EQ(*store->StoredOffset(Stream(1, 0)), cursor.at(Stream(1, 0)));
  }
}

TEST(SqliteLogStoreTest, FollowersSeeEveryLineOnceWhileRanksWrite) {
  TemporaryDirectory temporary;
  auto store = OpenLogStore(temporary.File("logs.db"));
  constexpr int64_t kLines = 40'000;
  const auto write = [&](int rank) {
    int64_t offset = 0;
    for (int64_t first = 1; first <= kLines; first += 400) {
      const std::string text = NumberedLines(first, first + 399);
      ASSERT_TRUE(store->Append({{Stream(1, rank), offset, first, text}}).ok());
      offset += static_cast<int64_t>(text.size());
    }
  };
  const auto follow = [&] {
    LogCursor cursor;
    std::map<int, int64_t> lines;
    while (lines[0] < kLines || lines[1] < kLines) {
      const absl::Status status =
          store->Read({.job_id = 1}, false, cursor, [&](std::vector<v1::LogLine> chunk) {
            for (const v1::LogLine& line : chunk) {
              EXPECT_EQ(line.text(), absl::StrCat("line number ", ++lines[line.rank()]));
            }
            return true;
          });
      ASSERT_TRUE(status.ok()) << status;
      ASSERT_FALSE(testing::Test::HasFailure());
    }
  };
  std::thread threads[] = {std::thread(write, 0), std::thread(write, 1), std::thread(follow),
                           std::thread(follow)};
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace trainyard::controller
