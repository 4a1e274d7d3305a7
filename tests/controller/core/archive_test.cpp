#include "controller/core/archive.h"

#include "controller/core/apply/apply.h"
#include "controller/core/apply/ended_jobs.h"
#include "controller/core/decide/references.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/state/jobs/origin_list.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kHour = 3'600'000;

class ArchiveTest : public ::testing::Test {
 protected:
  ArchiveTest() {
    cluster_.options.ended_jobs_kept = 0;
    cluster_.AddNode("a", 8);
    cluster_.AddNode("b", 8);
  }

  // Runs and ends a one-slot job that the worker has already forgotten.
  int64_t EndedJob(const std::string& name, const std::string& request_id = "") {
    const int64_t id = cluster_.Submit(TestSpec(name, 1, 1), request_id);
    cluster_.RunJob(id);
    cluster_.Publish(id, 10);
    cluster_.ExitAll(id, 0);
    cluster_.ClearAll(id);
    EXPECT_EQ(cluster_.StateOf(id), v1::JOB_STATE_SUCCEEDED);
    return id;
  }

  std::vector<int64_t> Due() {
    std::vector<int64_t> jobs;
    for (const v1::Event& event : ArchiveDue(cluster_.state, cluster_.observations,
                                             cluster_.options, cluster_.now, cursor_)) {
      jobs.push_back(event.job_archived().job_id());
    }
    return jobs;
  }

  void Archive(int64_t id) {
    v1::Event event;
    event.set_time_ms(cluster_.now);
    event.mutable_job_archived()->set_job_id(id);
    Apply(event, cluster_.state);
  }

  TestCluster cluster_;
  ArchiveCursor cursor_;
};

TEST_F(ArchiveTest, AJobIsArchivedAnHourAfterItsEnd) {
  const int64_t job = EndedJob("job");
  cluster_.Submit("runs", 1, 1);
  cluster_.now += kHour - 1;
  EXPECT_THAT(Due(), IsEmpty());
  cluster_.now += 1;
  EXPECT_THAT(Due(), ElementsAre(job));
  cluster_.options.ended_jobs_kept = 1;
  EXPECT_THAT(Due(), IsEmpty());
}

TEST_F(ArchiveTest, TheOldestJobsBeyondThoseKeptAreArchived) {
  const int64_t oldest = EndedJob("oldest");
  EndedJob("middle");
  EndedJob("newest");
  cluster_.options.ended_jobs_kept = 2;
  cluster_.now += kHour;
  EXPECT_THAT(Due(), ElementsAre(oldest));
}

TEST_F(ArchiveTest, AJobWaitsForAWorkerThatHasItsOutput) {
  const int64_t job = EndedJob("job");
  cluster_.now += kHour;
  cluster_.observations.nodes["a"].reports[{job, 1}] = {};
  EXPECT_THAT(Due(), IsEmpty());
  cluster_.observations.nodes["a"].reports.clear();
  EXPECT_THAT(Due(), ElementsAre(job));
}

TEST_F(ArchiveTest, AJobWaitsForANodeThatIsAwayButNotForEver) {
  const int64_t job = EndedJob("job");
  cluster_.now += kHour;
  cluster_.observations.nodes["a"].attached = false;
  EXPECT_THAT(Due(), IsEmpty());
  cluster_.now += cluster_.options.archive_away_ms;
  EXPECT_THAT(Due(), ElementsAre(job));
  // While a node may still run the job's ranks, the job and its slots remain in the state.
  cursor_ = {};
  cluster_.state.nodes.at("a").uncleared.insert({job, 1});
  EXPECT_THAT(Due(), IsEmpty());
}

TEST_F(ArchiveTest, OfANameTheOldestJobGoesFirst) {
  const int64_t first = EndedJob("same");
  const int64_t second = EndedJob("same");
  cluster_.now += kHour;
  EXPECT_THAT(Due(), ElementsAre(first));
  Archive(first);
  EXPECT_EQ(FindJob(cluster_.state, "same").value(), second);
  EXPECT_THAT(Due(), ElementsAre(second));
}

TEST_F(ArchiveTest, ACallArchivesABoundedNumberAndTheNextGoesOn) {
  for (int i = 0; i < 250; ++i) EndedJob("job-" + std::to_string(i));
  cluster_.now += kHour;
  std::vector<std::size_t> counts;
  for (int i = 0; i < 3; ++i) {
    const std::vector<int64_t> due = Due();
    for (const int64_t id : due) Archive(id);
    counts.push_back(due.size());
  }
  EXPECT_THAT(counts, ElementsAre(100, 100, 50));
}

TEST_F(ArchiveTest, AnUnclearedAttemptDelaysTheArchiveOnAnAttachedNodeToo) {
  const int64_t job = EndedJob("job");
  cluster_.now += kHour;
  cluster_.state.nodes.at("a").uncleared.insert({job, 1});
  EXPECT_THAT(Due(), IsEmpty());
  cluster_.state.nodes.at("a").uncleared.clear();
  EXPECT_THAT(Due(), ElementsAre(job));
}

TEST_F(ArchiveTest, ADisconnectedNodeDelaysTheArchiveForAWeek) {
  const int64_t job = EndedJob("job");
  cluster_.observations.nodes["a"].attached = false;
  cluster_.now += 7 * 24 * kHour - 1;
  EXPECT_THAT(Due(), IsEmpty());
  cluster_.now += 1;
  EXPECT_THAT(Due(), ElementsAre(job));
}

TEST_F(ArchiveTest, TheEventNamesTheJobTheTimeAndTheController) {
  const int64_t job = EndedJob("job");
  cluster_.now += kHour;
  const std::vector<v1::Event> events =
      ArchiveDue(cluster_.state, cluster_.observations, cluster_.options, cluster_.now, cursor_);
  v1::Event expected;
  expected.set_time_ms(cluster_.now);
  expected.set_actor("controller");
  expected.mutable_job_archived()->set_job_id(job);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].ShortDebugString(), expected.ShortDebugString());
}

TEST_F(ArchiveTest, ACallInspectsAThousandJobsAndTheNextContinues) {
  for (int64_t id = 1; id <= 1001; ++id) {
    v1::Job& job = cluster_.state.jobs[id].job;
    job.set_id(id);
    job.set_name("job-" + std::to_string(id));
    v1::Attempt& attempt = *job.add_attempts();
    attempt.set_number(1);
    attempt.set_state(v1::ATTEMPT_STATE_ENDED);
    attempt.add_ranks()->set_node_id("a");
    cluster_.state.ended_jobs.insert({cluster_.now, id});
    cluster_.state.jobs_by_name[job.name()].insert(id);
    if (id < 1000) cluster_.observations.nodes["a"].reports[{id, 1}] = {};
  }
  cluster_.now += kHour;
  EXPECT_THAT(Due(), ElementsAre(1000));
  EXPECT_THAT(Due(), ElementsAre(1001));
}

TEST_F(ArchiveTest, AnArchivedJobIsGoneFromTheStateAndItsSnapshot) {
  const std::string empty_indexes = DifferentIndexes(cluster_.state, cluster_.state);
  const int64_t job = EndedJob("job", "request");
  const int64_t last = EndedJob("last");
  cluster_.now += kHour;
  Archive(job);
  Archive(last);
  EXPECT_THAT(cluster_.state.jobs, IsEmpty());
  EXPECT_THAT(cluster_.state.ended_jobs, IsEmpty());
  EXPECT_THAT(cluster_.state.jobs_by_name, IsEmpty());
  EXPECT_TRUE(IsArchived(cluster_.state, job));
  EXPECT_FALSE(IsArchived(cluster_.state, last + 1));
  EXPECT_EQ(cluster_.state.newest_job_id, last);
  const ClusterState copy = FromSnapshot(ToSnapshot(cluster_.state, 1));
  EXPECT_EQ(Bytes(copy), Bytes(cluster_.state));
  EXPECT_EQ(DifferentIndexes(copy, cluster_.state), empty_indexes);
  EXPECT_TRUE(IsArchived(copy, last));
  // Job numbers continue.
  EXPECT_EQ(cluster_.Submit("next", 1, 1), last + 1);
}

TEST_F(ArchiveTest, TheRequestIdIsKnownForTenMinutesMore) {
  const int64_t job = EndedJob("job", "request");
  const int64_t second = EndedJob("second");
  const int64_t third = EndedJob("third");
  cluster_.now += kHour;
  Archive(job);
  cluster_.now += 599'999;
  Archive(second);
  EXPECT_EQ(FindJobByRequestId(cluster_.state, "request"), job);
  cluster_.now += 1;
  Archive(third);
  EXPECT_EQ(FindJobByRequestId(cluster_.state, "request"), std::nullopt);
}

TEST_F(ArchiveTest, ANumberOfAnArchivedJobDoesNotNameAnother) {
  const int64_t job = EndedJob("job");
  // submit now rejects this name, but older event logs may contain it.
  v1::Event named;
  named.mutable_job_submitted()->set_job_id(cluster_.state.next_job_id);
  *named.mutable_job_submitted()->mutable_spec() = TestSpec(std::to_string(job), 1, 1);
  Apply(named, cluster_.state);
  cluster_.now += kHour;
  Archive(job);
  EXPECT_TRUE(absl::IsNotFound(FindJob(cluster_.state, std::to_string(job)).status()));
}

TEST_F(ArchiveTest, ARestoreDoesNotTakeArchivedJobsForLostOnes) {
  const int64_t job = EndedJob("job");
  cluster_.now += kHour;
  Archive(job);
  v1::Event restored;
  restored.mutable_store_restored()->set_skipped_job_ids(100);
  Apply(restored, cluster_.state);
  EXPECT_FALSE(IsLostToRestore(cluster_.state, job));
  EXPECT_TRUE(IsLostToRestore(cluster_.state, job + 1));
  EXPECT_TRUE(IsLostToRestore(cluster_.state, job + 100));
  const int64_t next = cluster_.Submit("next", 1, 1);
  EXPECT_EQ(next, job + 101);
  const ClusterState copy = FromSnapshot(ToSnapshot(cluster_.state, 1));
  EXPECT_FALSE(IsLostToRestore(copy, next));
  EXPECT_TRUE(IsLostToRestore(copy, job + 100));
}

TEST_F(ArchiveTest, SnapshotsOfOlderReleasesTellLostJobsByTheGaps) {
  const int64_t job = EndedJob("job");
  v1::Event restored;
  restored.mutable_store_restored()->set_skipped_job_ids(100);
  Apply(restored, cluster_.state);
  cluster_.Submit("next", 1, 1);
  v1::Snapshot snapshot = ToSnapshot(cluster_.state, 1);
  snapshot.clear_newest_job_id();
  snapshot.clear_lost_jobs();
  EXPECT_EQ(Bytes(FromSnapshot(snapshot)), Bytes(cluster_.state));
  EXPECT_EQ(cluster_.state.lost_jobs.begin()->first, job + 1);
}

TEST_F(ArchiveTest, TheRecordHoldsTheWholeJobWithItsProgress) {
  const int64_t job = EndedJob("job", "request");
  cluster_.observations.progress[job].set_step(7);
  v1::ArchivedJob archived =
      ToArchived(cluster_.state.jobs.at(job), cluster_.observations, cluster_.now);
  EXPECT_EQ(archived.job().progress().step(), 7);
  const JobEntry entry = FromArchived(archived);
  EXPECT_EQ(entry.request_id, "request");
  EXPECT_EQ(entry.job.checkpoints_size(), 1);
  EXPECT_EQ(entry.cleared_nodes.size(), 1u);
}

TEST_F(ArchiveTest, TheRecordHoldsTheObservedStepsTokensAndOrigins) {
  const int64_t job = EndedJob("job");
  JobEntry& entry = cluster_.state.jobs.at(job);
  entry.job.mutable_spec()->mutable_train()->set_seq_length(100);
  entry.job.mutable_spec()->mutable_train()->set_global_batch(16);
  entry.job.mutable_spec()->mutable_train()->set_steps(10);
  entry.origin_list = PackOrigins(Origins{{"name", "mine.yaml:1:7"}});
  cluster_.observations.attempts[{job, 1}].ranks[0].step = 12;
  cluster_.observations.progress[job].set_step(7);
  const v1::ArchivedJob archived = ToArchived(entry, cluster_.observations, cluster_.now);
  EXPECT_EQ(archived.job().attempts(0).last_step(), 12);
  EXPECT_EQ(archived.job().progress().tokens(), 7 * 16 * 100);
  EXPECT_EQ(archived.job().progress().total_tokens(), 10 * 16 * 100);
  ASSERT_EQ(archived.job().origins_size(), 1);
  EXPECT_EQ(archived.job().origins(0).key(), "name");
  EXPECT_EQ(archived.job().origins(0).source(), "mine.yaml:1:7");
  EXPECT_EQ(archived.details().origin_list(), "") << "the job has the origins";
}

TEST_F(ArchiveTest, AnAlertThatComesLateIsStillHistory) {
  const int64_t job = EndedJob("job");
  cluster_.now += kHour;
  Archive(job);
  ReceiveTelemetry late{job, 1, 0, {}};
  late.record.mutable_alert()->set_code("nan_loss");
  EXPECT_THAT(Kinds(cluster_.Do(late)), ElementsAre("AlertRaised"));
  late.record.mutable_checkpoint()->set_path("/c/1");
  EXPECT_THAT(cluster_.Do(late), IsEmpty());
}

}  // namespace
}  // namespace trainyard::controller
