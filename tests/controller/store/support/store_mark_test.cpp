#include "controller/store/support/store_mark.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "controller/store/events/log_terms.h"
#include "controller/store/stores.h"
#include "tests/controller/store/child_process.h"
#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

namespace fs = std::filesystem;

v1::Event AnEvent(int64_t time_ms = 1000) {
  v1::Event event;
  event.set_time_ms(time_ms);
  event.mutable_node_suspected()->set_node_id("a");
  return event;
}

LogBatch OutputAt(int64_t offset) { return {{1, 1, 0, v1::STREAM_KIND_LOG}, offset, 1000, "x"}; }

v1::LogMark MarkOf(uint64_t term, uint64_t sequence) {
  v1::LogMark mark;
  mark.set_term(term);
  mark.set_sequence(sequence);
  return mark;
}

TEST(LogTermsTest, AnEventIsKnownByItsTermAndItsNumber) {
  LogTerms terms;
  terms.Load({{1, 11}, {5, 12}}, 9);
  EXPECT_EQ(terms.Newest().term(), 12u);
  EXPECT_EQ(terms.Newest().sequence(), 9u);
  EXPECT_TRUE(terms.Covers(MarkOf(11, 4)));
  EXPECT_FALSE(terms.Covers(MarkOf(11, 5))) << "another process appended event 5";
  EXPECT_TRUE(terms.Covers(MarkOf(12, 9)));
  EXPECT_FALSE(terms.Covers(MarkOf(12, 10)));
  EXPECT_FALSE(terms.Covers(MarkOf(13, 1)));
  EXPECT_TRUE(terms.Covers(MarkOf(0, 9))) << "a mark of an older release";
  EXPECT_FALSE(terms.Covers(MarkOf(0, 10)));
  terms.Appended(13, 10);
  EXPECT_TRUE(terms.Covers(MarkOf(13, 10)));
  EXPECT_FALSE(terms.Covers(MarkOf(12, 10)));
}

class StoreMarkTest : public testing::Test {
 protected:
  void Open() {
    stores_ = {};
    auto opened = OpenSqliteStores(directory_.path());
    ASSERT_TRUE(opened.ok()) << opened.status();
    stores_ = *std::move(opened);
  }
  // Copies the file and the write-ahead log of an open database, as a disk snapshot would.
  void CopyOut(const std::string& name) {
    for (const char* suffix : {"", "-wal"}) {
      const fs::path from = directory_.File(name + suffix);
      if (fs::exists(from)) fs::copy(from, directory_.File("copy-" + name + suffix));
    }
  }
  void PutBack(const std::string& name) {
    stores_ = {};
    for (const char* suffix : {"", "-wal", "-shm"}) {
      fs::remove(directory_.File(name + suffix));
      const fs::path copy = directory_.File("copy-" + name + suffix);
      if (fs::exists(copy)) fs::rename(copy, directory_.File(name + suffix));
    }
    Open();
  }

  TemporaryDirectory directory_;
  Stores stores_;
};

TEST_F(StoreMarkTest, AMarkIsWrittenWithAnAppendOrAlone) {
  Open();
  ASSERT_TRUE(stores_.events->Append({AnEvent(), AnEvent()}).ok());
  v1::LogMark mark = stores_.events->NewestMark();
  mark.set_job_id(17);
  EXPECT_EQ(mark.sequence(), 2u);
  stores_.logs->NoteLogMark(mark);
  stores_.metrics->NoteLogMark(mark);
  EXPECT_EQ(stores_.logs->ReadLogMark()->sequence(), 0u) << "noted only";
  ASSERT_TRUE(stores_.logs->Append({OutputAt(0)}).ok());
  ASSERT_TRUE(stores_.metrics->WriteLogMark().ok());
  Open();
  for (MarkedStore* store : {static_cast<MarkedStore*>(stores_.logs.get()),
                             static_cast<MarkedStore*>(stores_.metrics.get())}) {
    EXPECT_EQ(store->ReadLogMark()->job_id(), 17);
    EXPECT_TRUE(stores_.events->Covers(*store->ReadLogMark()));
    EXPECT_EQ(store->Position().writes, 1);
  }
  ASSERT_TRUE(stores_.metrics->WriteLogMark().ok());
  EXPECT_EQ(stores_.metrics->Position().writes, 1) << "it is durable already";
}

TEST_F(StoreMarkTest, AnOlderEventLogDoesNotCoverTheMarkEvenWhenItHasGrownAgain) {
  Open();
  ASSERT_TRUE(stores_.events->Append({AnEvent()}).ok());
  CopyOut("events.db");
  ASSERT_TRUE(stores_.events->Append({AnEvent(), AnEvent()}).ok());
  const v1::LogMark mark = stores_.events->NewestMark();
  PutBack("events.db");
  EXPECT_FALSE(stores_.events->Covers(mark));
  ASSERT_TRUE(stores_.events->Append({AnEvent(), AnEvent(), AnEvent(), AnEvent()}).ok());
  EXPECT_GT(stores_.events->NewestMark().sequence(), mark.sequence());
  EXPECT_FALSE(stores_.events->Covers(mark)) << "other events have its numbers";
}

TEST_F(StoreMarkTest, TheEventLogKnowsWhatTheStoresHad) {
  Open();
  ASSERT_TRUE(stores_.logs->Append({OutputAt(0)}).ok());
  stores_.events->NoteStore("logs", stores_.logs->Position());
  ASSERT_TRUE(stores_.events->Append({AnEvent(1000)}).ok());
  EXPECT_EQ(stores_.events->StoreMarks()->at("logs"), stores_.logs->Position());
  CopyOut("logs.db");
  ASSERT_TRUE(stores_.logs->Append({OutputAt(1)}).ok());
  stores_.events->NoteStore("logs", stores_.logs->Position());
  ASSERT_TRUE(stores_.events->Append({AnEvent(1500)}).ok());
  EXPECT_EQ(stores_.events->StoreMarks()->at("logs").writes, 1) << "at most once a second";
  ASSERT_TRUE(stores_.events->Append({AnEvent(2000)}).ok());
  EXPECT_EQ(stores_.events->StoreMarks()->at("logs").writes, 2);
  PutBack("logs.db");
  EXPECT_EQ(stores_.logs->Position().writes, 1);
  EXPECT_EQ(stores_.logs->Position().store_id, stores_.events->StoreMarks()->at("logs").store_id);
  stores_ = {};
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(directory_.File("logs.db") + suffix);
  Open();
  EXPECT_NE(stores_.logs->Position().store_id, stores_.events->StoreMarks()->at("logs").store_id);
}

// Whenever a process is killed, no store may contain a mark of an event that is missing from the
// log.
TEST_F(StoreMarkTest, KillsLookLikeNoLoss) {
  for (int kill_after = 1; kill_after <= 20; ++kill_after) {
    ChildProcess child([&](int report_fd) {
      Open();
      for (int64_t i = 0;; ++i) {
        if (!stores_.events->Append({AnEvent(1000 * i)}).ok()) _exit(1);
        v1::LogMark mark = stores_.events->NewestMark();
        mark.set_job_id(i);
        stores_.logs->NoteLogMark(mark);
        if (!stores_.logs->WriteLogMark().ok()) _exit(1);
        stores_.events->NoteStore("logs", stores_.logs->Position());
        ChildProcess::Report(report_fd, i);
      }
    });
    int64_t done = 0;
    while (done < kill_after && child.Read(done)) {
    }
    child.Kill();
    Open();
    const auto mark = stores_.logs->ReadLogMark();
    ASSERT_TRUE(mark.ok()) << mark.status();
    EXPECT_GT(mark->sequence(), 0u);
    EXPECT_TRUE(stores_.events->Covers(*mark)) << mark->ShortDebugString();
    EXPECT_LE(stores_.events->StoreMarks()->at("logs").writes, stores_.logs->Position().writes);
    stores_ = {};
  }
}

}  // namespace
}  // namespace trainyard::controller
