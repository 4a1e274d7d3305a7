#include "controller/retention/pruner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "controller/store/stores.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;

constexpr Timestamp kNow = 1000 * kDayMs;

class FixedClock final : public Clock {
 public:
  Timestamp Now() const override { return kNow; }
};

// Ended jobs with their end times. A job that is not listed is live or does not exist.
class ListedJobs final : public EndedJobs {
 public:
  explicit ListedJobs(EventLog& log) : log_(log) {}

  absl::StatusOr<std::vector<EndedJob>> Among(const std::vector<int64_t>& ids) override {
    std::vector<EndedJob> found;
    for (const int64_t id : ids) {
      if (ended.contains(id)) found.push_back({id, ended.at(id)});
    }
    return found;
  }
  absl::StatusOr<std::vector<EndedJob>> EndedBy(Timestamp ended_ms) override {
    std::vector<EndedJob> found;
    for (const auto& [id, time] : ended) {
      if (time <= ended_ms && !undeletable.contains(id)) found.push_back({id, time});
    }
    return found;
  }
  std::vector<DirectoryOfJob> DirectoriesOfOthers(int64_t /*job_id*/) override { return others; }
  absl::Status Delete(int64_t job_id, bool /*checkpoints*/) override {
    ended.erase(job_id);
    v1::Event event;
    event.set_time_ms(kNow);
    event.mutable_job_deleted()->set_job_id(job_id);
    for (const std::string& path : checkpoints) event.mutable_job_deleted()->add_checkpoints(path);
    return log_.Append({event});
  }

  std::map<int64_t, Timestamp> ended;
  std::vector<DirectoryOfJob> others;
  std::vector<std::string> checkpoints;
  std::set<int64_t> undeletable;

 private:
  EventLog& log_;
};

class PrunerTest : public testing::Test {
 protected:
  // Adds a job with 1 MiB of output, 100 metric points and one event.
  void AddJob(int64_t id) {
    const StreamKey log{id, 1, 0, v1::STREAM_KIND_LOG};
    ASSERT_TRUE(stores_.logs->Append({{log, 0, 1, std::string(1 << 20, 'x')}}).ok());
    MetricBatch batch{.stream = {id, 1, 0, v1::STREAM_KIND_TELEMETRY},
                      .begin_offset = 0,
                      .end_offset = 100,
                      .points = {}};
    for (int64_t step = 0; step < 100; ++step) batch.points.push_back({"loss", step, step, 1});
    ASSERT_TRUE(stores_.metrics->Append({batch}).ok());
    v1::Event event;
    event.set_time_ms(kNow);
    event.mutable_alert_raised()->set_job_id(id);
    ASSERT_TRUE(stores_.events->Append({event}).ok());
  }
  void AddEndedJob(int64_t id, int64_t days_ago) {
    AddJob(id);
    jobs_.ended[id] = kNow - days_ago * kDayMs;
  }

  // Makes all events in the log removable, except the newest event.
  void CoverEvents() {
    v1::Event newest;
    newest.set_time_ms(kNow);
    newest.mutable_node_returned()->set_node_id("a");
    ASSERT_TRUE(stores_.events->Append({newest}).ok());
    v1::Snapshot snapshot;
    snapshot.set_last_sequence(stores_.events->Recover()->last_sequence);
    ASSERT_TRUE(stores_.events->WriteSnapshot(snapshot).ok());
  }

  void Run() {
    CoverEvents();
    options_.pause_factor = 0;
    Pruner pruner({*stores_.events, *stores_.metrics, *stores_.logs}, jobs_, clock_, options_);
    pruner.RunPass();
    space_ = pruner.Space();
  }

  static std::vector<int64_t> JobsIn(PrunableStore& store) {
    std::vector<int64_t> jobs;
    for (int64_t id = *store.NextJob(0); id != 0; id = *store.NextJob(id)) jobs.push_back(id);
    return jobs;
  }

  const FixedClock clock_;
  Stores stores_ = OpenMemoryStores();
  ListedJobs jobs_{*stores_.events};
  PrunerOptions options_;
  SpaceReport space_;
};

TEST_F(PrunerTest, DropsByAgeKindByKindAndNeverFromLiveJobs) {
  AddJob(1);
  AddEndedJob(2, 29);
  AddEndedJob(3, 31);
  AddEndedJob(4, 181);
  AddEndedJob(5, 366);
  AddEndedJob(6, 731);
  Run();
  EXPECT_THAT(JobsIn(*stores_.logs), ElementsAre(1, 2));
  EXPECT_THAT(JobsIn(*stores_.metrics), ElementsAre(1, 2, 3));
  // All data of job 6 was pruned. Only the event of its deletion is left.
  EXPECT_THAT(JobsIn(*stores_.events), ElementsAre(1, 2, 3, 4, 6));
  EXPECT_FALSE(jobs_.ended.contains(6));
}

// The clock is years ahead of the newest event. According to the clock, all data is old enough to
// be removed.
TEST_F(PrunerTest, WhileTheClockIsInDoubtNothingGoesForItsAge) {
  AddEndedJob(1, 10'000);
  options_.newest_event_ms = kNow - 800 * kDayMs;
  Run();
  EXPECT_THAT(JobsIn(*stores_.logs), ElementsAre(1));
  EXPECT_THAT(JobsIn(*stores_.metrics), ElementsAre(1));
  EXPECT_TRUE(jobs_.ended.contains(1));
  EXPECT_THAT(space_.clock_doubt, testing::HasSubstr("ahead"));
}

// After a restart, the clock must still count as doubtful. Events recorded with the wrong clock
// must not confirm the clock.
TEST_F(PrunerTest, TheTimeThatWasBelievedOutlivesTheController) {
  TemporaryDirectory disk;
  options_.data_dir = disk.path();
  AddEndedJob(1, 10'000);
  options_.newest_event_ms = kNow - 800 * kDayMs;
  Run();
  options_.newest_event_ms = 0;
  AddEndedJob(2, 10'000);
  Run();
  EXPECT_EQ(space_.clock_doubt, "");
  EXPECT_THAT(JobsIn(*stores_.logs), ElementsAre());
  options_.newest_event_ms = kNow - 800 * kDayMs;
  AddEndedJob(3, 10'000);
  Run();
  EXPECT_EQ(space_.clock_doubt, "") << "the first belief was recorded";
}

// The size limit must apply even if the clock is in doubt, because the disk is finite.
TEST_F(PrunerTest, WhileTheClockIsInDoubtTheBoundHolds) {
  TemporaryDirectory disk;
  options_.data_dir = disk.path();
  options_.newest_event_ms = kNow - 800 * kDayMs;
  const auto capacity = static_cast<double>(std::filesystem::space(disk.path()).capacity);
  options_.policy.logs.disk_share = 1.5 * (1 << 20) / capacity;
  AddEndedJob(1, 50);
  AddEndedJob(2, 40);
  Run();
  EXPECT_THAT(JobsIn(*stores_.logs), ElementsAre(2));
}

TEST_F(PrunerTest, KeepsForEverWhatItIsTold) {
  AddEndedJob(1, 10'000);
  options_.policy.logs.keep_ms.reset();
  options_.policy.jobs_ms.reset();
  Run();
  EXPECT_THAT(JobsIn(*stores_.logs), ElementsAre(1));
  EXPECT_THAT(JobsIn(*stores_.metrics), ElementsAre());
}

TEST_F(PrunerTest, OverTheBoundTheJobsThatEndedFirstGo) {
  TemporaryDirectory disk;
  options_.data_dir = disk.path();
  const auto capacity = static_cast<double>(std::filesystem::space(disk.path()).capacity);
  options_.policy.logs.disk_share = 2.5 * (1 << 20) / capacity;
  AddJob(1);
  AddEndedJob(2, 5);
  AddEndedJob(3, 9);
  AddEndedJob(4, 7);
  Run();
  EXPECT_THAT(JobsIn(*stores_.logs), ElementsAre(1, 2));
  EXPECT_THAT(JobsIn(*stores_.metrics), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(space_.disk_bytes, static_cast<int64_t>(capacity));
  EXPECT_STREQ(space_.stores.front().store, "logs");
  EXPECT_EQ(space_.stores.front().usage.used_bytes, 2 << 20);
  EXPECT_NEAR(static_cast<double>(space_.stores.front().bound_bytes), 2.5 * (1 << 20), 2);
}

TEST_F(PrunerTest, LiveJobsStayEvenOverTheBound) {
  TemporaryDirectory disk;
  options_.data_dir = disk.path();
  const auto capacity = static_cast<double>(std::filesystem::space(disk.path()).capacity);
  options_.policy.logs.disk_share = 10 / capacity;
  AddJob(1);
  AddEndedJob(2, 1);
  Run();
  EXPECT_THAT(JobsIn(*stores_.logs), ElementsAre(1));
}

TEST_F(PrunerTest, ADeletedJobLosesEverythingButItsDeletion) {
  AddJob(1);
  AddJob(2);
  ASSERT_TRUE(jobs_.Delete(1, false).ok());
  Run();
  EXPECT_THAT(JobsIn(*stores_.logs), ElementsAre(2));
  EXPECT_THAT(JobsIn(*stores_.metrics), ElementsAre(2));
  EXPECT_EQ(stores_.events->ReadJobEvents(1, 10)->size(), 1U);
  EXPECT_TRUE(stores_.events->FindDeletion(1)->has_value());
  EXPECT_TRUE(stores_.events->OpenDeletions(0)->empty());
}

TEST_F(PrunerTest, ADeletionStaysOpenUntilASnapshotLetsTheEventsGo) {
  AddJob(1);
  ASSERT_TRUE(jobs_.Delete(1, false).ok());
  Pruner pruner({*stores_.events, *stores_.metrics, *stores_.logs}, jobs_, clock_, options_);
  pruner.RunPass();
  EXPECT_THAT(JobsIn(*stores_.logs), ElementsAre());
  EXPECT_EQ(stores_.events->OpenDeletions(0)->size(), 1U);
  CoverEvents();
  pruner.RunPass();
  EXPECT_TRUE(stores_.events->OpenDeletions(0)->empty());
}

TEST_F(PrunerTest, ACheckpointThatAnotherJobHasTakenMeanwhileStays) {
  const TemporaryDirectory disk;
  const std::string own = disk.File("ckpt/1-job"), taken = disk.File("ckpt/2-job");
  for (const std::string& path : {own, taken}) std::filesystem::create_directories(path + "/step");
  std::filesystem::create_directory_symlink(taken, disk.File("link"));
  options_.checkpoint_root = disk.File("ckpt");
  jobs_.checkpoints = {own + "/step", taken + "/step"};
  jobs_.others = {{9, disk.File("link")}};
  AddJob(1);
  ASSERT_TRUE(jobs_.Delete(1, true).ok());
  Run();
  EXPECT_FALSE(std::filesystem::exists(own));
  EXPECT_TRUE(std::filesystem::exists(taken + "/step"));
  EXPECT_TRUE(stores_.events->OpenDeletions(0)->empty());
}

TEST_F(PrunerTest, ARemovalThatFailsKeepsItsDeletionOpenAndIsNotRepeatedAtOnce) {
  const TemporaryDirectory disk;
  std::filesystem::create_directories(disk.File("ckpt/1-job/step"));
  // Files in /proc cannot be removed, so this removal fails.
  std::filesystem::create_directory_symlink("/proc/self", disk.File("kernel"));
  options_.checkpoint_root = disk.File("kernel");
  jobs_.checkpoints = {disk.File("kernel/net/stat")};
  AddJob(1);
  ASSERT_TRUE(jobs_.Delete(1, true).ok());
  CoverEvents();
  Pruner pruner({*stores_.events, *stores_.metrics, *stores_.logs}, jobs_, clock_, options_);
  pruner.RunPass();
  EXPECT_THAT(JobsIn(*stores_.logs), ElementsAre()) << "the rest of the job is gone";
  EXPECT_EQ(stores_.events->OpenDeletions(0)->size(), 1U);
  pruner.RunPass();
  EXPECT_EQ(stores_.events->OpenDeletions(0)->size(), 1U);
  EXPECT_THAT(pruner.Space().abandoned_removals, testing::IsEmpty()) << "it is tried again";
}

TEST_F(PrunerTest, WholeJobsGoWhenTheyAreOldEnough) {
  AddEndedJob(1, 20);
  AddEndedJob(2, 5);
  options_.policy.jobs_ms = 10 * kDayMs;
  Run();
  EXPECT_FALSE(jobs_.ended.contains(1));
  EXPECT_THAT(JobsIn(*stores_.logs), ElementsAre(2));
}

TEST_F(PrunerTest, TheThreadStopsAtOnceAndFinishesDeletionsWhenWoken) {
  AddJob(1);
  options_.pass_interval = std::chrono::hours(1);
  options_.measure_interval = std::chrono::hours(1);
  Pruner pruner({*stores_.events, *stores_.metrics, *stores_.logs}, jobs_, clock_, options_);
  pruner.Start();
  ASSERT_TRUE(jobs_.Delete(1, false).ok());
  pruner.Wake();
  while (!JobsIn(*stores_.logs).empty()) std::this_thread::yield();
  pruner.Stop();
}

}  // namespace
}  // namespace trainyard::controller
