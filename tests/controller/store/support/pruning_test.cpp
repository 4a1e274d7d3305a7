// Tests the removal of data from the stores. Dropped data is gone immediately, other data is
// unchanged, and the disk space is reclaimed.
#include "controller/store/support/pruning.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <random>

#include "absl/strings/str_cat.h"
#include "controller/core/event_log/event_job.h"
#include "controller/store/logs/sqlite_log_store.h"
#include "tests/controller/store/contract/store_contract.h"
#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

// Returns incompressible text that consists of whole lines.
std::string NoiseLines(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::string text;
  while (text.size() < bytes) text += absl::StrCat(absl::Hex(random()), random(), "\n");
  return text;
}

void ReclaimAll(PrunableStore& store) {
  for (int i = 0; i < 10'000; ++i) {
    const auto more = store.Reclaim();
    ASSERT_TRUE(more.ok()) << more.status();
    if (!*more) return;
  }
  FAIL() << "Reclaim does not come to an end";
}

template <typename Store>
void Drop(int64_t job_id, Store& store) {
  ASSERT_TRUE(store.DropJob(job_id).ok());
  ReclaimAll(store);
}

using PrunedEvents = StoreContract<EventLog>;
using PrunedMetrics = StoreContract<MetricStore>;
using PrunedLogs = StoreContract<LogStore>;

StreamKey LogOf(int64_t job_id) { return {job_id, 1, 0, v1::STREAM_KIND_LOG}; }

std::size_t CountLines(LogStore& store, int64_t job_id) {
  std::size_t lines = 0;
  LogCursor cursor;
  const absl::Status status =
      store.Read(LogQuery{.job_id = job_id}, true, cursor, [&](std::vector<v1::LogLine> chunk) {
        lines += chunk.size();
        return true;
      });
  EXPECT_TRUE(status.ok()) << status;
  return lines;
}

TEST_P(PrunedLogs, OutputOfADroppedJobIsGoneAndThatOfOthersStays) {
  for (const int64_t job : {3, 5, 9}) {
    ASSERT_TRUE(store_->Append({{LogOf(job), 0, 100, "a\nb\n"}}).ok());
  }
  EXPECT_EQ(store_->NextJob(0).value(), 3);
  EXPECT_GT(store_->JobBytes(5).value(), 0);
  Drop(5, *store_);
  EXPECT_EQ(CountLines(*store_, 5), 0U);
  EXPECT_EQ(CountLines(*store_, 3), 2U);
  EXPECT_EQ(CountLines(*store_, 9), 2U);
  EXPECT_EQ(store_->JobBytes(5).value(), 0);
  EXPECT_EQ(store_->NextJob(3).value(), 9);
  EXPECT_EQ(store_->NextJob(9).value(), 0);
  // A worker that reconnects later starts again at byte 0.
  EXPECT_EQ(store_->StoredOffset(LogOf(5)).value(), 0);
  ASSERT_TRUE(store_->Append({{LogOf(5), 0, 200, "late\n"}}).ok());
  EXPECT_EQ(CountLines(*store_, 5), 1U);
}

MetricBatch Points(int64_t job_id, int64_t first, int64_t count) {
  MetricBatch batch{.stream = {job_id, 1, 0, v1::STREAM_KIND_TELEMETRY},
                    .begin_offset = first,
                    .end_offset = first + count,
                    .points = {}};
  for (int64_t step = first; step < first + count; ++step) {
    batch.points.push_back({"loss", step + 1, step, static_cast<double>(step) / 3});
  }
  return batch;
}

int64_t CountPoints(MetricStore& store, int64_t job_id) {
  const auto series = store.Read(SeriesQuery{.job_id = job_id, .keys = {"loss"}});
  EXPECT_TRUE(series.ok()) << series.status();
  return series.ok() ? series->front().steps_size() : -1;
}

TEST_P(PrunedMetrics, MetricsOfADroppedJobAreGoneAndThoseOfOthersStay) {
  for (const int64_t job : {3, 5}) {
    // More points than the tail can hold, so that the store has chunks, too.
    ASSERT_TRUE(store_->Append({Points(job, 0, 20'000)}).ok());
    ASSERT_TRUE(store_->Append({Points(job, 20'000, 10)}).ok());
  }
  EXPECT_GT(store_->JobBytes(5).value(), 0);
  Drop(5, *store_);
  EXPECT_EQ(CountPoints(*store_, 5), 0);
  EXPECT_TRUE(store_->Keys(5)->empty());
  EXPECT_TRUE(store_->Attempts(5)->empty());
  EXPECT_EQ(store_->JobBytes(5).value(), 0);
  EXPECT_EQ(CountPoints(*store_, 3), 20'010);
  EXPECT_EQ(store_->NextJob(0).value(), 3);
  EXPECT_EQ(store_->NextJob(3).value(), 0);
  ASSERT_TRUE(store_->Append({Points(5, 0, 7)}).ok());
  EXPECT_EQ(CountPoints(*store_, 5), 7);
}

v1::Event AlertOf(int64_t job_id, int64_t time_ms) {
  v1::Event event;
  event.set_time_ms(time_ms);
  event.mutable_alert_raised()->set_job_id(job_id);
  return event;
}

v1::Event NodeEvent(int64_t time_ms) {
  v1::Event event;
  event.set_time_ms(time_ms);
  event.mutable_node_returned()->set_node_id("a");
  return event;
}

v1::Event DeletionOf(int64_t job_id, int64_t time_ms) {
  v1::Event event;
  event.set_time_ms(time_ms);
  event.set_actor("user ada");
  event.mutable_job_deleted()->set_job_id(job_id);
  return event;
}

void CoverUpTo(uint64_t sequence, EventLog& log) {
  v1::Snapshot snapshot;
  snapshot.set_last_sequence(sequence);
  ASSERT_TRUE(log.WriteSnapshot(snapshot).ok());
}

TEST_P(PrunedEvents, OnlyEventsThatASnapshotHoldsGo) {
  ASSERT_TRUE(
      store_->Append({AlertOf(1, 10), AlertOf(2, 20), AlertOf(1, 30), AlertOf(1, 40)}).ok());
  ASSERT_TRUE(store_->DropJobEvents(1).ok());
  EXPECT_EQ(store_->ReadJobEvents(1, 10)->size(), 3U) << "no snapshot holds them";
  CoverUpTo(3, *store_);
  EXPECT_FALSE(store_->DropJobEvents(1).value());
  EXPECT_EQ(store_->ReadJobEvents(1, 10)->size(), 1U);
  EXPECT_EQ(store_->ReadJobEvents(2, 10)->size(), 1U);
  EXPECT_EQ(store_->Recover()->last_sequence, 4U);
  EXPECT_EQ(store_->Recover()->events.size(), 1U);
}

TEST_P(PrunedEvents, TheNewestEventStaysSoThatNumbersGoOn) {
  ASSERT_TRUE(store_->Append({AlertOf(1, 10), AlertOf(1, 20)}).ok());
  CoverUpTo(2, *store_);
  EXPECT_FALSE(store_->DropJobEvents(1).value());
  EXPECT_EQ(store_->ReadJobEvents(1, 10)->size(), 1U);
  Reopen();
  ASSERT_TRUE(store_->Append({AlertOf(1, 30)}).ok());
  EXPECT_EQ(store_->Recover()->last_sequence, 3U);
}

TEST_P(PrunedEvents, OldEventsOfNodesGoAndThoseOfJobsStay) {
  ASSERT_TRUE(store_->Append({NodeEvent(10), AlertOf(1, 20), NodeEvent(30), NodeEvent(40)}).ok());
  ASSERT_TRUE(store_->Append({AlertOf(1, 50)}).ok());
  CoverUpTo(5, *store_);
  EXPECT_FALSE(store_->DropNodeEvents(40).value());
  const auto left = store_->ReadEventsBefore(0, 0, 10);
  ASSERT_EQ(left->size(), 3U);
  EXPECT_EQ((*left)[1].sequence(), 4U);
  EXPECT_EQ((*left)[2].sequence(), 2U);
}

TEST_P(PrunedEvents, OldEventsOfNodesGoInALongLogToo) {
  std::vector<v1::Event> events;
  for (int i = 0; i < 10'000; ++i) events.push_back(NodeEvent(i));
  ASSERT_TRUE(store_->Append(events).ok());
  CoverUpTo(10'000, *store_);
  while (store_->DropNodeEvents(9'000).value()) {
  }
  EXPECT_EQ(store_->ReadEventsBefore(0, 0, 2'000)->size(), 1'000U);
  while (store_->DropNodeEvents(9'500).value()) {
  }
  EXPECT_EQ(store_->ReadEventsBefore(0, 0, 2'000)->size(), 500U);
}

TEST_P(PrunedEvents, ADeletionIsFoundAfterTheJobsEventsAreGone) {
  ASSERT_TRUE(store_->Append({AlertOf(1, 10), DeletionOf(1, 20), AlertOf(2, 30)}).ok());
  ASSERT_EQ(store_->OpenDeletions(0)->size(), 1U);
  EXPECT_EQ(store_->OpenDeletions(0)->front().sequence(), 2U);
  EXPECT_TRUE(store_->OpenDeletions(2)->empty());
  EXPECT_FALSE(store_->FinishDeletion(1).value()) << "an event of the job is left";
  CoverUpTo(3, *store_);
  EXPECT_FALSE(store_->DropJobEvents(1).value());
  EXPECT_TRUE(store_->FinishDeletion(1).value());
  EXPECT_TRUE(store_->OpenDeletions(0)->empty());
  const auto found = store_->FindDeletion(1);
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->time_ms(), 20);
  EXPECT_EQ((*found)->actor(), "user ada");
  EXPECT_FALSE(store_->FindDeletion(2)->has_value());
}

TEST_P(PrunedEvents, OldFinishedDeletionsGoWithEventsOfNodes) {
  ASSERT_TRUE(store_->Append({DeletionOf(1, 10), DeletionOf(2, 20), DeletionOf(3, 30)}).ok());
  ASSERT_TRUE(store_->Append({NodeEvent(40)}).ok());
  CoverUpTo(4, *store_);
  EXPECT_TRUE(store_->FinishDeletion(1).value());
  EXPECT_TRUE(store_->FinishDeletion(3).value());
  EXPECT_FALSE(store_->DropNodeEvents(30).value());
  EXPECT_FALSE(store_->FindDeletion(1)->has_value());
  EXPECT_TRUE(store_->FindDeletion(2)->has_value()) << "it is not finished";
  EXPECT_EQ(store_->OpenDeletions(0)->size(), 1U);
  EXPECT_TRUE(store_->FindDeletion(3)->has_value());
  EXPECT_EQ(store_->ReadEventsBefore(0, 0, 10)->size(), 3U);
}

INSTANTIATE_TEST_SUITE_P(, PrunedEvents, EveryEventLog(), StoreName);
INSTANTIATE_TEST_SUITE_P(, PrunedMetrics, EveryStore(), StoreName);
INSTANTIATE_TEST_SUITE_P(, PrunedLogs, EveryStore(), StoreName);

class PrunedFile : public testing::Test {
 protected:
  std::unique_ptr<LogStore> OpenLogs() const {
    auto opened = SqliteLogStore::Open(path());
    EXPECT_TRUE(opened.ok()) << opened.status();
    return *std::move(opened);
  }
  std::string path() const { return directory_.path() + "/logs.db"; }
  // Returns the size of the database file after the write-ahead log has been folded into it.
  std::uintmax_t FileBytes() const {
    OpenLogs().reset();
    return std::filesystem::file_size(path());
  }
  static void Fill(int64_t job_id, LogStore& store) {
    ASSERT_TRUE(store.Append({{LogOf(job_id), 0, 1, NoiseLines(16 << 20, 1)}}).ok());
  }

  TemporaryDirectory directory_;
};

TEST_F(PrunedFile, ShrinksWhenDataGoes) {
  auto store = OpenLogs();
  Fill(1, *store);
  Fill(2, *store);
  const StoreUsage before = *store->Usage();
  Drop(1, *store);
  const StoreUsage after = *store->Usage();
  EXPECT_LT(after.used_bytes, before.used_bytes * 6 / 10);
  EXPECT_LE(after.free_bytes, 4 << 20);
  store.reset();
  EXPECT_LT(FileBytes(), static_cast<std::uintmax_t>(before.used_bytes) * 8 / 10);
  store = OpenLogs();
  EXPECT_EQ(CountLines(*store, 1), 0U);
  EXPECT_GT(CountLines(*store, 2), 0U);
}

TEST_F(PrunedFile, ADropThatWasCutOffIsHiddenAndGoesOn) {
  auto store = OpenLogs();
  Fill(1, *store);
  Fill(2, *store);
  const std::size_t lines = CountLines(*store, 2);
  ASSERT_TRUE(store->DropJob(1).ok());
  ASSERT_TRUE(store->Reclaim().value());
  store = nullptr;

  store = OpenLogs();
  EXPECT_EQ(CountLines(*store, 1), 0U);
  EXPECT_EQ(store->NextJob(0).value(), 2);
  // A new stream must not reuse the number of a removed stream whose segments still exist.
  ASSERT_TRUE(store->Append({{LogOf(3), 0, 1, "new\n"}}).ok());
  EXPECT_EQ(CountLines(*store, 3), 1U);
  EXPECT_FALSE(store->DropJob(1).ok()) << "the earlier drop is not done";
  ReclaimAll(*store);
  EXPECT_TRUE(store->DropJob(1).ok());
  EXPECT_EQ(CountLines(*store, 2), lines);
  EXPECT_EQ(CountLines(*store, 3), 1U);
}

TEST_F(PrunedFile, OfAnOlderReleaseUsesItsFreeSpaceAgain) {
  sqlite3* old = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &old), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(old, "CREATE TABLE t (a); DROP TABLE t", nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(old);
  auto store = OpenLogs();
  Fill(1, *store);
  Drop(1, *store);
  EXPECT_GT(store->Usage()->free_bytes, 4 << 20);
  store = nullptr;
  const std::uintmax_t before = FileBytes();
  store = OpenLogs();
  Fill(2, *store);
  store = nullptr;
  EXPECT_LE(FileBytes(), before + before / 20);
}

}  // namespace
}  // namespace trainyard::controller
