#include "controller/storage/history_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "controller/loop/snapshot_writer.h"
#include "controller/storage/log_mark_keeper.h"
#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

class HistoryCheckTest : public testing::Test {
 protected:
  HistoryCheckTest() { Open(); }

  void Open() {
    stores_ = {};
    auto opened = OpenSqliteStores(directory_.path());
    ASSERT_TRUE(opened.ok()) << opened.status();
    stores_ = *std::move(opened);
  }

  void Append(int events) {
    v1::Event event;
    event.set_time_ms(now_ += 2000);
    event.mutable_store_restored();
    ASSERT_TRUE(stores_.events->Append(std::vector<v1::Event>(events, event)).ok());
    v1::LogMark mark = stores_.events->NewestMark();
    mark.set_job_id(static_cast<int64_t>(mark.sequence()) * 10);
    stores_.logs->NoteLogMark(mark);
    ASSERT_TRUE(stores_.logs->WriteLogMark().ok());
    stores_.events->NoteStore("logs", stores_.logs->Position());
  }

  // Returns the losses of history found at startup.
  std::vector<v1::Event> Losses() {
    auto recovery = stores_.events->Recover();
    EXPECT_TRUE(recovery.ok()) << recovery.status();
    const std::size_t before = recovery->events.size();
    const auto recorded = RecordLosses(StateOf(*std::move(recovery)), stores_, now_ += 2000);
    EXPECT_TRUE(recorded.ok()) << recorded.status();
    recovery = stores_.events->Recover();
    EXPECT_EQ(*recorded, recovery->events.size() > before);
    return {recovery->events.begin() + static_cast<std::ptrdiff_t>(before), recovery->events.end()};
  }

  void Copy(const std::string& from, const std::string& to) {
    for (const char* suffix : {"", "-wal", "-shm"}) {
      fs::remove(directory_.File(to + suffix));
      if (!fs::exists(directory_.File(from + suffix))) continue;
      fs::copy(directory_.File(from + suffix), directory_.File(to + suffix));
    }
  }

  TemporaryDirectory directory_;
  Stores stores_;
  int64_t now_ = 1'000'000;
};

TEST_F(HistoryCheckTest, AWholeDirectoryHasNoLoss) {
  EXPECT_TRUE(Losses().empty()) << "a new one";
  Append(3);
  Append(2);
  EXPECT_TRUE(Losses().empty());
  Open();
  EXPECT_TRUE(Losses().empty());
}

TEST_F(HistoryCheckTest, AnOlderEventLogIsFoundOnce) {
  Append(3);
  Copy("events.db", "old.db");
  Append(4);
  stores_ = {};
  Copy("old.db", "events.db");
  Open();
  const std::vector<v1::Event> losses = Losses();
  ASSERT_EQ(losses.size(), 1u);
  const v1::EventsLost& lost = losses[0].events_lost();
  EXPECT_EQ(lost.seen_by(), "logs.db");
  EXPECT_EQ(lost.mark().sequence(), 7u);
  EXPECT_EQ(lost.mark().job_id(), 70);
  EXPECT_EQ(lost.last_sequence(), 3u);
  EXPECT_GT(lost.skipped_job_ids(), 70);
  EXPECT_TRUE(Losses().empty());
  Open();
  EXPECT_TRUE(Losses().empty()) << "recorded";
}

TEST_F(HistoryCheckTest, ALossThatMustStopTheControllerIsNotRecorded) {
  Append(3);
  Copy("events.db", "old.db");
  Append(4);
  stores_ = {};
  Copy("old.db", "events.db");
  Open();
  const auto state = [&] { return StateOf(*stores_.events->Recover()); };
  for (int i = 0; i < 2; ++i) {
    const auto refused = RecordLosses(state(), stores_, now_ += 2000, kFirstTerm, true);
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(refused.status().message()), HasSubstr("--accept-lost-events"));
    EXPECT_EQ(stores_.events->NewestMark().sequence(), 3u);
  }
  EXPECT_EQ(Losses().size(), 1u) << "accepted";
  EXPECT_FALSE(RecordLosses(state(), stores_, now_ += 2000, kFirstTerm, true).value());
}

// As with stores in a database server, whose marks are lost together with the events.
TEST_F(HistoryCheckTest, TheMarkInTheDataDirectoryShowsLostEvents) {
  Append(3);
  const std::string id = "0123456789abcdef0123456789abcdef";
  v1::LogMark mark = stores_.events->NewestMark();
  mark.set_sequence(9);
  mark.set_job_id(12);
  {
    LogMarkKeeper keeper(LogMarkFileIn(directory_.path()), id);
    keeper.Start();
    keeper.Note(mark);
  }
  EXPECT_TRUE(Losses().empty()) << "the marks of SQLite stores are in their files";
  stores_.database = "PostgreSQL database trainyard on db1";
  stores_.cluster_id = std::string(32, 'b');
  EXPECT_TRUE(Losses().empty()) << "the mark is of another cluster";
  stores_.cluster_id = id;
  const std::vector<v1::Event> losses = Losses();
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].events_lost().seen_by(), LogMarkFileIn(directory_.path()));
  EXPECT_EQ(losses[0].events_lost().mark().job_id(), 12);
  EXPECT_TRUE(Losses().empty());

  // A former leader has a mark from before the accepted loss.
  v1::LogMark older = mark;
  older.set_term(mark.term() + 1);
  older.set_sequence(8);
  LogMarkKeeper keeper(LogMarkFileIn(directory_.path()), id);
  keeper.Start();
  keeper.Note(older);
  keeper.Stop();
  EXPECT_TRUE(Losses().empty());
}

// Otherwise a controller without such a file would continue the shorter log.
TEST_F(HistoryCheckTest, AMarkThatStopsAControllerStopsTheOthers) {
  Append(3);
  stores_.database = "PostgreSQL database trainyard on db1";
  stores_.cluster_id = std::string(32, 'a');
  v1::LogMark mark = stores_.events->NewestMark();
  mark.set_sequence(9);
  mark.set_job_id(12);
  const std::string file = LogMarkFileIn(directory_.path());
  {
    LogMarkKeeper keeper(file, stores_.cluster_id);
    keeper.Start();
    keeper.Note(mark);
  }
  for (int i = 0; i < 2; ++i) {
    const auto refused =
        RecordLosses(StateOf(*stores_.events->Recover()), stores_, now_ += 2000, kFirstTerm, true);
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
    fs::remove(file);
  }
  EXPECT_EQ(Losses().size(), 1u) << "accepted";
  EXPECT_TRUE(Losses().empty());
}

TEST_F(HistoryCheckTest, AWriteAheadLogThatWasRemovedIsFound) {
  Append(3);
  stores_ = {};
  Open();
  Append(4);
  // Copies the database without its write-ahead log, as if the process had been killed before the
  // log was folded into the database.
  fs::copy(directory_.File("events.db"), directory_.File("main"));
  stores_ = {};
  fs::rename(directory_.File("main"), directory_.File("events.db"));
  Open();
  ASSERT_EQ(Losses().size(), 1u);
}

TEST_F(HistoryCheckTest, AnOlderOrMissingStoreIsFoundOnce) {
  Append(1);
  Append(1);
  Copy("logs.db", "old.db");
  Append(1);
  Append(1);
  stores_ = {};
  Copy("old.db", "logs.db");
  Open();
  std::vector<v1::Event> losses = Losses();
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].store_data_lost().store(), "logs");
  EXPECT_THAT(losses[0].store_data_lost().reason(), HasSubstr("writes are missing"));
  EXPECT_TRUE(Losses().empty());
  stores_ = {};
  fs::remove(directory_.File("logs.db"));
  Open();
  losses = Losses();
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_THAT(losses[0].store_data_lost().reason(), HasSubstr("removed or replaced"));
  Open();
  EXPECT_TRUE(Losses().empty());
}

}  // namespace
}  // namespace trainyard::controller
