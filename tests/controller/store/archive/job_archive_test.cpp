// Tests the contract of job_archive.h on every implementation. Lists are compared with those of an
// in-memory archive.
#include "controller/store/archive/job_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "controller/store/events/memory_event_log.h"
#include "tests/controller/store/archive/ended_jobs.h"
#include "tests/controller/store/contract/store_contract.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::Pair;

class JobArchiveTest : public StoreContract<EventLog> {
 protected:
  void Add(const v1::ArchivedJob& job) {
    ASSERT_TRUE(store_->Append({ArchivedEvent(job.job().id())}, {job}).ok());
    ASSERT_TRUE(reference_.Append({ArchivedEvent(job.job().id())}, {job}).ok());
  }

  JobArchive& archive() { return store_->archive(); }

  MemoryEventLog reference_;
};

TEST_P(JobArchiveTest, FindsByNumberNameAndRequestAlsoAfterARestart) {
  EXPECT_FALSE(archive().HasJobs());
  EXPECT_EQ(archive().Find(1).value(), std::nullopt);
  Add(Archived(1, "same", v1::JOB_STATE_FAILED));
  Add(Archived(2, "same", v1::JOB_STATE_SUCCEEDED));
  for (int i = 0; i < 2; ++i, Reopen()) {
    EXPECT_TRUE(archive().HasJobs());
    EXPECT_THAT(archive().CountByState(),
                ElementsAre(Pair(v1::JOB_STATE_SUCCEEDED, 1), Pair(v1::JOB_STATE_FAILED, 1)));
    EXPECT_EQ(archive().Find(1).value()->SerializeAsString(),
              Archived(1, "same", v1::JOB_STATE_FAILED).SerializeAsString());
    EXPECT_EQ(archive().FindByName("same").value()->job().id(), 2);
    EXPECT_EQ(archive().FindByName("other").value(), std::nullopt);
    EXPECT_EQ(archive().FindByRequestId("request-1").value()->job().id(), 1);
    EXPECT_EQ(archive().FindByRequestId("").value(), std::nullopt);
  }
}

// The in-memory archive replaces a job that is added again.
class DurableJobArchiveTest : public JobArchiveTest {};

TEST_P(DurableJobArchiveTest, EventsAndJobsAreAddedTogetherOrNotAtAll) {
  const v1::ArchivedJob job = Archived(1, "job", v1::JOB_STATE_FAILED);
  Add(job);
  // The job already exists, so the second append fails as a whole.
  EXPECT_FALSE(
      store_->Append({ArchivedEvent(1)}, {Archived(2, "two", v1::JOB_STATE_FAILED), job}).ok());
  Reopen();
  EXPECT_EQ(store_->Recover()->last_sequence, 1u);
  EXPECT_EQ(archive().Find(2).value(), std::nullopt);
  EXPECT_THAT(archive().CountByState(), ElementsAre(Pair(v1::JOB_STATE_FAILED, 1)));
}

TEST_P(JobArchiveTest, ADeletedJobLeavesWithItsEvent) {
  Add(Archived(1, "one", v1::JOB_STATE_FAILED));
  Add(Archived(2, "two", v1::JOB_STATE_FAILED));
  v1::Event event;
  event.mutable_job_deleted()->set_job_id(1);
  ASSERT_TRUE(store_->Append({event}).ok());
  // Appends the event a second time, as two concurrent callers might.
  ASSERT_TRUE(store_->Append({event}).ok());
  for (int i = 0; i < 2; ++i, Reopen()) {
    EXPECT_EQ(archive().Find(1).value(), std::nullopt);
    EXPECT_EQ(archive().FindByName("one").value(), std::nullopt);
    EXPECT_THAT(archive().CountByState(), ElementsAre(Pair(v1::JOB_STATE_FAILED, 1)));
    EXPECT_EQ(archive().List({}, std::nullopt, 10)->total, 1);
  }
  event.mutable_job_deleted()->set_job_id(2);
  ASSERT_TRUE(store_->Append({event}).ok());
  EXPECT_FALSE(archive().HasJobs());
}

std::vector<int64_t> IdsOf(const absl::StatusOr<std::vector<ArchivedEnd>>& ends) {
  std::vector<int64_t> ids;
  for (const ArchivedEnd& end : *ends) {
    EXPECT_EQ(end.ended_ms, 1000 * end.job_id);
    ids.push_back(end.job_id);
  }
  return ids;
}

TEST_P(JobArchiveTest, TellsTheJobsThatEndedFirst) {
  for (const int64_t id : {2, 1, 4, 3}) Add(Archived(id, "job", v1::JOB_STATE_FAILED));
  EXPECT_THAT(IdsOf(archive().EndedBy(3000, 10)), ElementsAre(1, 2, 3));
  EXPECT_THAT(IdsOf(archive().EndedBy(3000, 2)), ElementsAre(1, 2));
  EXPECT_THAT(IdsOf(archive().EndedBy(999, 10)), ElementsAre());
  EXPECT_THAT(IdsOf(archive().EndsOf({4, 7, 1})), testing::UnorderedElementsAre(1, 4));
  EXPECT_THAT(IdsOf(archive().EndsOf({})), ElementsAre());
}

TEST_P(JobArchiveTest, GivesTheTimeOfJobsThatEndedLately) {
  for (const int64_t id : {2, 1, 4, 3}) Add(Archived(id, "job", v1::JOB_STATE_FAILED));
  EXPECT_THAT(JobsWithTimeSince(archive(), 0), ElementsAre(4, 3, 2, 1));
  EXPECT_THAT(JobsWithTimeSince(archive(), 3000), ElementsAre(4, 3));
  EXPECT_THAT(JobsWithTimeSince(archive(), 4001), ElementsAre());
}

TEST_P(JobArchiveTest, JobsWithoutALossAreLastInBothDirections) {
  const auto add = [&](int64_t id, double loss) {
    v1::ArchivedJob archived = Archived(id, "a", v1::JOB_STATE_SUCCEEDED);
    archived.mutable_job()->mutable_progress()->set_step(1);
    archived.mutable_job()->mutable_progress()->set_loss(loss);
    Add(archived);
  };
  add(1, 2.5);
  add(2, std::nan(""));
  add(3, 1.5);
  add(4, 0);
  v1::ListJobsRequest request;
  request.set_order(v1::JOB_ORDER_LOSS);
  EXPECT_THAT(IdsOf(*archive().List(request, std::nullopt, 10)), ElementsAre(3, 1, 4, 2));
  request.set_reverse(true);
  EXPECT_THAT(IdsOf(*archive().List(request, std::nullopt, 10)), ElementsAre(1, 3, 2, 4));
}

// Each field has few possible values, so that many jobs compare equal when they are sorted.
v1::ArchivedJob AnyJob(int64_t id, std::mt19937& random) {
  const auto any = [&](int count) { return static_cast<int>(random() % count); };
  v1::ArchivedJob archived = Archived(id, absl::StrCat("job-", any(6)),
                                      static_cast<v1::JobState>(v1::JOB_STATE_SUCCEEDED + any(3)));
  v1::Job& job = *archived.mutable_job();
  job.set_user(absl::StrCat("User", any(3)));
  job.set_ended_time_ms(1000 + any(10));
  job.mutable_spec()->set_description(any(2) == 0 ? "A Large run" : "");
  job.mutable_progress()->set_step(any(5));
  job.mutable_progress()->set_total_steps(any(2) * 5);
  job.mutable_progress()->set_loss(any(4) == 0 ? std::nan("") : any(3));
  if (any(3) != 0) job.mutable_progress()->set_best_loss(any(3) - 1);
  job.mutable_progress()->set_tokens_per_second(any(3) * 100);
  job.mutable_progress()->set_eta_seconds(any(3));
  job.mutable_spec()->mutable_resources()->set_nodes(1 + any(3));
  job.mutable_spec()->mutable_resources()->set_slots_per_node(8);
  job.set_restarts(any(4));
  return archived;
}

v1::ListJobsRequest AnyRequest(std::mt19937& random) {
  const auto any = [&](int count) { return static_cast<int>(random() % count); };
  v1::ListJobsRequest request;
  request.set_order(static_cast<v1::JobOrder>(any(13)));
  request.set_reverse(any(2) == 0);
  if (any(3) == 0) request.set_user(absl::StrCat("User", any(4)));
  if (any(4) == 0) request.set_name(absl::StrCat("job-", any(7)));
  if (any(4) == 0) request.set_text(any(2) == 0 ? "LARGE" : "r1");
  for (int i = any(3); i > 0; --i) {
    request.add_states(static_cast<v1::JobState>(v1::JOB_STATE_STOPPING + any(4)));
  }
  return request;
}

TEST_P(JobArchiveTest, ListsAsTheReferenceDoesPageByPage) {
  std::mt19937 random(5);
  for (int64_t id = 1; id <= 200; ++id) Add(AnyJob(id, random));
  for (int round = 0; round < 400; ++round) {
    const v1::ListJobsRequest request = AnyRequest(random);
    std::optional<JobPlace> after;
    for (int page = 0; page < 4; ++page) {
      const auto expected = reference_.archive().List(request, after, 20);
      const auto found = archive().List(request, after, 20);
      ASSERT_TRUE(found.ok()) << found.status();
      ASSERT_EQ(IdsOf(*found), IdsOf(*expected)) << request.DebugString();
      ASSERT_EQ(found->total, expected->total) << request.DebugString();
      if (found->jobs.empty()) break;
      const v1::Job& last = found->jobs.back().job();
      after = PlaceIn(request, last, last.progress());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, JobArchiveTest, EveryStore(), StoreName);
INSTANTIATE_TEST_SUITE_P(, DurableJobArchiveTest, DurableStores(), StoreName);

}  // namespace
}  // namespace trainyard::controller
