#include "controller/core/decide/queues.h"

#include "controller/core/explain/queue_report.h"
#include "controller/core/requests/requests.h"
#include "controller/core/state/slots/slot_ledger.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class QueuesTest : public ::testing::Test {
 protected:
  QueuesTest() { cluster_.AddNode("a", 4); }

  static SetQueue Set(const std::string& name, int shares, int tier, int max_slots = 0,
                      int nominal = 0) {
    SetQueue set{.request = {}, .principal = {"ada"}};
    v1::Queue& queue = *set.request.mutable_queue();
    queue.set_name(name);
    queue.set_shares(shares);
    queue.set_tier(tier);
    if (max_slots == 0 && nominal == 0) return set;
    v1::SlotQuota& quota = *queue.add_quotas();
    quota.set_device(v1::DEVICE_KIND_CPU);
    quota.set_max_slots(max_slots);
    quota.set_nominal(nominal);
    return set;
  }
  static DeleteQueue Delete(const std::string& name) {
    DeleteQueue deletion{.request = {}, .principal = {"ada"}};
    deletion.request.set_name(name);
    return deletion;
  }
  static MoveInQueue Move(int64_t job, const std::string& queue, std::optional<int> priority = {}) {
    MoveInQueue move{.request = {}, .principal = {"ada"}};
    move.request.set_job(std::to_string(job));
    move.request.set_queue(queue);
    if (priority.has_value()) move.request.set_priority(*priority);
    return move;
  }
  int64_t SubmitTo(const std::string& queue, const std::string& name, int slots) {
    v1::JobSpec spec = TestSpec(name, 1, slots);
    spec.set_queue(queue);
    return cluster_.Submit(spec);
  }

  TestCluster cluster_;
};

TEST_F(QueuesTest, SettingsAreKeptAndRepeatingThemChangesNothing) {
  EXPECT_THAT(Kinds(cluster_.Do(Set("night", 3, -1, 8, 2))), ElementsAre("QueueSet"));
  EXPECT_THAT(cluster_.Do(Set("night", 3, -1, 8, 2)), IsEmpty());
  EXPECT_EQ(cluster_.state.queues.at("night").shares(), 3);
  EXPECT_THAT(Kinds(cluster_.Do(Delete("night"))), ElementsAre("QueueDeleted"));
  EXPECT_THAT(cluster_.state.queues, IsEmpty());
}

TEST_F(QueuesTest, BadSettingsAreRefused) {
  EXPECT_THAT(cluster_.Try(Set("Night", 1, 0)).message(), HasSubstr("`Night` is not valid"));
  EXPECT_THAT(cluster_.Try(Set("q", -1, 0)).message(), HasSubstr("`shares` is -1; it must be"));
  EXPECT_THAT(cluster_.Try(Set("q", 1'000'001, 0)).message(), HasSubstr("from 0 to 1000000"));
  EXPECT_THAT(cluster_.Try(Set("q", 1, 101)).message(), HasSubstr("`tier` is 101"));
  EXPECT_THAT(cluster_.Try(Set("q", 1, 0, -1)).message(), HasSubstr("`max_slots` of cpu slots"));
  EXPECT_THAT(cluster_.Try(Set("q", 1, 0, 2, 3)).message(),
              HasSubstr("greater than `max_slots` 2"));
  SetQueue twice = Set("q", 1, 0, 2);
  *twice.request.mutable_queue()->add_quotas() = twice.request.queue().quotas(0);
  EXPECT_THAT(cluster_.Try(twice).message(), HasSubstr("two quotas of cpu slots"));
  SetQueue unnamed = Set("q", 1, 0, 2);
  unnamed.request.mutable_queue()->mutable_quotas(0)->clear_device();
  EXPECT_THAT(cluster_.Try(unnamed).message(), HasSubstr("names no kind of slot"));
}

TEST_F(QueuesTest, ALimitBelowTheSlotsInUseIsRefused) {
  cluster_.RunJob(cluster_.Submit("job", 1, 3));
  const absl::Status status = cluster_.Try(Set("default", 1, 0, 2));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("the queue default holds 3 cpu slots"));
  EXPECT_TRUE(cluster_.Try(Set("default", 1, 0, 3)).ok());
}

TEST_F(QueuesTest, ALimitBelowTheSlotsOfAUserIsRefused) {
  cluster_.RunJob(cluster_.Submit("job", 1, 3));
  SetQueue set = Set("default", 1, 0, 4);
  v1::SlotQuota& quota = *set.request.mutable_queue()->mutable_quotas(0);
  quota.set_max_slots_per_user(2);
  EXPECT_THAT(cluster_.Try(set).message(),
              HasSubstr("ada holds 3 cpu slots in the queue default, so `max_slots_per_user`"));
  quota.set_max_slots_per_user(3);
  EXPECT_TRUE(cluster_.Try(set).ok());
}

TEST_F(QueuesTest, AQueueWithJobsIsNotDeleted) {
  cluster_.Do(Set("night", 1, 0));
  const int64_t job = SubmitTo("night", "job", 1);
  EXPECT_THAT(cluster_.Try(Delete("night")).message(), HasSubstr("is in the queue night"));
  cluster_.Do(Move(job, "default"));
  EXPECT_TRUE(cluster_.Try(Delete("night")).ok());
  EXPECT_EQ(cluster_.Try(Delete("other")).code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(cluster_.Try(Delete("default")).message(), HasSubstr("always exists"));
}

TEST_F(QueuesTest, AJobNeedsAnExistingQueueThatIsLargeEnough) {
  v1::SubmitJobRequest request;
  *request.mutable_spec() = TestSpec("job", 1, 4);
  request.mutable_spec()->set_queue("nigth");
  const absl::Status unknown = cluster_.Try(Checked(request));
  EXPECT_EQ(unknown.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(unknown.message(), HasSubstr("no queue is called `nigth`; queues: default"));
  cluster_.Do(Set("night", 1, 0, 3));
  request.mutable_spec()->set_queue("night");
  EXPECT_THAT(cluster_.Try(Checked(request)).message(),
              HasSubstr("requests 4 cpu slots, but the queue night may hold 3"));
}

TEST_F(QueuesTest, AJobThatIsLargerThanTheLimitEntersNoQueue) {
  cluster_.Do(Set("small", 1, 0, 2));
  const int64_t job = cluster_.Submit("job", 1, 3);
  EXPECT_THAT(cluster_.Try(Move(job, "small")).message(), HasSubstr("small may hold 2"));
  EXPECT_TRUE(cluster_.Try(Move(job, "", 1)).ok());
  cluster_.Do(Set("default", 1, 0, 2));
  EXPECT_TRUE(cluster_.Try(Move(job, "", 1)).ok()) << "the job is in the queue already";
  v1::SubmitJobRequest request;
  *request.mutable_spec() = TestSpec("large", 1, 3);
  EXPECT_THAT(cluster_.Try(Checked(request)).message(), HasSubstr("default may hold 2"));
}

TEST_F(QueuesTest, AMoveChangesTheOrder) {
  cluster_.Do(Set("urgent", 1, 1));
  cluster_.RunJob(cluster_.Submit("runs", 1, 4));
  const int64_t first = cluster_.Submit("first", 1, 4);
  const int64_t second = cluster_.Submit("second", 1, 4);
  const auto order = [&] {
    const v1::ListQueuesResponse report = QueueReport(cluster_.View(), 10);
    std::vector<int64_t> ids;
    for (const v1::QueuedJob& job : report.jobs()) {
      ids.push_back(job.job_id());
    }
    return ids;
  };
  EXPECT_THAT(order(), ElementsAre(first, second));
  cluster_.Do(Move(second, "", 1));
  EXPECT_THAT(order(), ElementsAre(second, first));
  cluster_.Do(Move(first, "urgent"));
  EXPECT_THAT(order(), ElementsAre(first, second));
  EXPECT_THAT(cluster_.Do(Move(first, "urgent")), IsEmpty());
}

TEST_F(QueuesTest, BadMovesAreRefused) {
  const int64_t running = cluster_.Submit("runs", 1, 4);
  cluster_.RunJob(running);
  cluster_.Do(Set("urgent", 1, 1));
  EXPECT_THAT(cluster_.Try(Move(running, "urgent")).message(), HasSubstr("pause the job, move it"));
  EXPECT_TRUE(cluster_.Try(Move(running, "", 3)).ok()) << "a priority may change at any time";
  EXPECT_THAT(cluster_.Try(Move(running, "", 1001)).message(), HasSubstr("`priority` is 1001"));
  EXPECT_THAT(cluster_.Try(Move(running, "")).message(), HasSubstr("set a queue, a priority"));
  EXPECT_EQ(cluster_.Try(Move(running, "none")).code(), absl::StatusCode::kNotFound);
  cluster_.ExitAll(running, 0);
  cluster_.ClearAll(running);
  EXPECT_EQ(cluster_.Try(Move(running, "urgent")).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(QueuesTest, TheReportCountsElementsThatAreNoJobsYet) {
  cluster_.RunJob(cluster_.Submit("runs", 1, 4));
  v1::JobSpec spec = TestSpec("sweep", 1, 4);
  (*spec.mutable_matrix())["env.SEED"] = "1..10";
  cluster_.Submit(spec);
  cluster_.Settle();
  cluster_.Submit("last", 1, 4);
  const v1::ListQueuesResponse report = QueueReport(cluster_.View(), 10);
  ASSERT_EQ(report.jobs_size(), 2);
  EXPECT_EQ(report.jobs(0).elements_to_come(), 9);
  EXPECT_EQ(report.jobs(1).elements_to_come(), 0);
}

TEST_F(QueuesTest, TheReportHasSlotsWaitingJobsAndShares) {
  cluster_.Do(Set("night", 3, 0));
  cluster_.RunJob(cluster_.Submit("runs", 1, 4));
  SubmitTo("night", "waits", 1);
  cluster_.now += 3'600'000;
  const v1::ListQueuesResponse report = QueueReport(cluster_.View(), 10);
  ASSERT_EQ(report.queues_size(), 2);
  const v1::QueueSlots& usual = report.queues(0).slots(0);
  EXPECT_EQ(report.queues(0).queue().name(), "default");
  EXPECT_EQ(usual.held_slots(), 4);
  EXPECT_NEAR(usual.usage_hours(), 4, 0.02);
  EXPECT_DOUBLE_EQ(usual.usage_share(), 1);
  EXPECT_DOUBLE_EQ(usual.fair_share(), 0.25);
  ASSERT_EQ(usual.users_size(), 1);
  EXPECT_EQ(usual.users(0).user(), "ada");
  EXPECT_EQ(usual.users(0).held_slots(), 4);
  const v1::QueueSlots& night = report.queues(1).slots(0);
  EXPECT_EQ(night.waiting_jobs(), 1);
  EXPECT_EQ(night.held_slots(), 0);
  EXPECT_DOUBLE_EQ(night.fair_share(), 0.75);
  ASSERT_EQ(report.jobs_size(), 1);
  EXPECT_EQ(report.jobs(0).queue(), "night");
  EXPECT_EQ(report.jobs(0).reason().queue_position(), 1);
}

TEST_F(QueuesTest, AJobMovedToALowerLevelNoLongerPrecedesTheQueues) {
  cluster_.RunJob(SubmitTo("default", "runs", 4));
  const int64_t job = SubmitTo("default", "job", 4);
  cluster_.state.jobs.at(job).job.set_preempts(true);
  RebuildIndexes(cluster_.state);
  cluster_.Do(Move(job, "", 5));
  EXPECT_TRUE(cluster_.Job(job).preempts()) << "the level is higher than before";
  cluster_.Do(Move(job, "", 4));
  EXPECT_FALSE(cluster_.Job(job).preempts());
  EXPECT_EQ(cluster_.state.pending_classes.begin()->first.only_job, 0);
}

}  // namespace
}  // namespace trainyard::controller
