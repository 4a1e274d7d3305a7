#include "controller/core/schedule/queue_order.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "controller/core/apply/apply.h"
#include "controller/core/state/slots/slot_ledger.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kUsageDay = 86'400'000;

class QueueOrderTest : public ::testing::Test {
 protected:
  int64_t Submit(const std::string& user, const std::string& queue = "default", int priority = 0) {
    v1::Event event;
    event.set_time_ms(cluster_.now);
    v1::JobSubmitted& submitted = *event.mutable_job_submitted();
    submitted.set_job_id(cluster_.state.next_job_id);
    submitted.set_user(user);
    *submitted.mutable_spec() = TestSpec("job-" + std::to_string(submitted.job_id()), 1, 1);
    submitted.mutable_spec()->mutable_resources()->set_device(v1::DEVICE_KIND_CPU);
    submitted.mutable_spec()->set_queue(queue);
    submitted.mutable_spec()->set_priority(priority);
    Apply(event, cluster_.state);
    return submitted.job_id();
  }

  void SetQueue(const std::string& name, int tier, int shares, int nominal = 0) {
    v1::Event event;
    event.set_time_ms(cluster_.now);
    v1::Queue& queue = *event.mutable_queue_set()->mutable_queue();
    queue.set_name(name);
    queue.set_tier(tier);
    queue.set_shares(shares);
    v1::SlotQuota& quota = *queue.add_quotas();
    quota.set_device(v1::DEVICE_KIND_CPU);
    quota.set_nominal(nominal);
    Apply(event, cluster_.state);
  }

  void Use(const std::string& queue, const std::string& user, int64_t slot_ms, int64_t held = 0) {
    for (const std::string& name : {std::string(), user}) {
      Usage& usage = cluster_.state.usages[{v1::DEVICE_KIND_CPU, queue, name}];
      usage.at = cluster_.now;
      usage.slot_ms += slot_ms;
      usage.held += held;
    }
  }

  std::vector<int64_t> Order() const {
    return JobsInOrder(cluster_.state, v1::DEVICE_KIND_CPU, cluster_.now);
  }

  TestCluster cluster_;
};

TEST_F(QueueOrderTest, WithoutUsageTheOrderIsThatOfTheNumbers) {
  for (const char* user : {"bob", "ada", "bob", "cy"}) Submit(user);
  EXPECT_THAT(Order(), ElementsAre(1, 2, 3, 4));
}

TEST_F(QueueOrderTest, TierThenPriorityThenUsage) {
  SetQueue("urgent", 1, 1);
  Submit("ada");
  Submit("ada", "default", 5);
  Submit("bob");
  Submit("bob", "urgent", -5);
  Use("default", "ada", 10);
  EXPECT_THAT(Order(), ElementsAre(4, 2, 3, 1));
}

TEST_F(QueueOrderTest, QueuesAreComparedByUsagePerShare) {
  SetQueue("a", 0, 3);
  SetQueue("b", 0, 1);
  Submit("ada", "a");
  Submit("bob", "b");
  Use("a", "ada", 299);
  Use("b", "bob", 100);
  EXPECT_THAT(Order(), ElementsAre(1, 2)) << "299 / 3 < 100";
  Use("a", "ada", 2);
  EXPECT_THAT(Order(), ElementsAre(2, 1)) << "301 / 3 > 100";
}

TEST_F(QueueOrderTest, AQueueThatBorrowsComesAfterOneThatDoesNot) {
  SetQueue("a", 0, 1, 4);
  Submit("ada", "a");
  Submit("bob", "b");
  Use("b", "bob", 1000);
  EXPECT_THAT(Order(), ElementsAre(1, 2));
  Use("a", "ada", 0, 4);
  EXPECT_THAT(Order(), ElementsAre(2, 1)) << "a holds all of its nominal slots";
}

TEST_F(QueueOrderTest, UsersOfAQueueAreComparedWithinIt) {
  Submit("ada", "a");
  Submit("bob", "a");
  Use("b", "bob", 1000);
  Use("a", "ada", 10);
  EXPECT_THAT(Order(), ElementsAre(2, 1));
}

TEST_F(QueueOrderTest, OldUseCountsLess) {
  Submit("ada");
  Submit("bob");
  Use("default", "ada", 1000);
  cluster_.now += 14 * kUsageDay;
  Use("default", "bob", 249);
  EXPECT_THAT(Order(), ElementsAre(2, 1)) << "1000 / 4 > 249";
  Use("default", "bob", 2);
  EXPECT_THAT(Order(), ElementsAre(1, 2));
}

TEST_F(QueueOrderTest, AJobForWhichOthersWerePreemptedIsFirst) {
  SetQueue("urgent", 1, 1);
  Submit("ada");
  const int64_t job = Submit("bob");
  Submit("cy", "urgent");
  cluster_.state.jobs.at(job).job.set_preempts(true);
  RebuildIndexes(cluster_.state);
  EXPECT_THAT(Order(), ElementsAre(2, 3, 1));
}

TEST_F(QueueOrderTest, JobsAheadAreCountedAsTheOrderHasThem) {
  SetQueue("urgent", 1, 1);
  for (const char* user : {"ada", "bob", "ada", "cy"}) Submit(user);
  Submit("bob", "urgent");
  Use("default", "ada", 10);
  int64_t ahead = 0;
  for (const int64_t id : Order()) {
    EXPECT_EQ(CountBefore(cluster_.state, cluster_.Job(id), cluster_.now), ahead++) << id;
  }
}

TEST_F(QueueOrderTest, AClosedClassIsSkipped) {
  for (const char* user : {"ada", "bob", "ada", "bob"}) Submit(user);
  const auto classes = RankClasses(cluster_.state, v1::DEVICE_KIND_CPU, cluster_.now);
  OrderedJobs jobs(classes);
  EXPECT_EQ(jobs.front().job_id, 1);
  jobs.CloseClass();
  EXPECT_EQ(jobs.front().job_id, 2);
  jobs.Advance();
  EXPECT_EQ(jobs.front().job_id, 4);
  jobs.Advance();
  EXPECT_TRUE(jobs.empty());
}

// Two users with equal usage have one rank, so the numbers of their jobs decide.
TEST_F(QueueOrderTest, ClassesOfEqualStandingHaveOneRank) {
  const int64_t first = Submit("ada"), second = Submit("grace"),
                third = Submit("ada", "default", 1);
  const int64_t fourth = Submit("ada");
  const std::vector<ClassRank> classes =
      RankClasses(cluster_.state, v1::DEVICE_KIND_CPU, cluster_.now);
  ASSERT_EQ(classes.size(), 3U);
  EXPECT_EQ(classes[0].job_class->priority, 1);
  EXPECT_EQ(classes[0].rank, 0);
  EXPECT_EQ(classes[1].rank, 1);
  EXPECT_EQ(classes[2].rank, 1);
  std::set<std::size_t> positions;
  for (const ClassRank& place : classes) positions.insert(place.position);
  EXPECT_EQ(positions, (std::set<std::size_t>{0, 1, 2}));
  EXPECT_THAT(Order(), ElementsAre(third, first, second, fourth));
}

TEST_F(QueueOrderTest, TheShortestHoldsAreTakenFirst) {
  cluster_.AddNode("a", 1);
  const auto submit = [&](const std::string& name, int64_t limit_s) {
    v1::JobSpec spec = TestSpec(name, 1, 1);
    if (limit_s > 0) spec.mutable_time_limit()->set_seconds(limit_s);
    return cluster_.Submit(spec);
  };
  const int64_t endless = submit("endless", 0), day = submit("day", 86'400);
  const int64_t hour = submit("hour", 3600), other_hour = submit("other-hour", 3600);
  const int64_t minute = submit("minute", 60);
  const std::vector<ClassRank> classes =
      RankClasses(cluster_.state, v1::DEVICE_KIND_CPU, cluster_.now);
  OrderedJobs jobs(classes);
  ASSERT_EQ(jobs.front().job_id, endless);
  std::vector<int64_t> taken;
  for (const OrderedJobs::Next& next : jobs.TakeShortestFirst()) taken.push_back(next.job_id);
  // Two jobs of an hour are one class, of which the first is next.
  EXPECT_THAT(taken, ElementsAre(minute, hour, day, endless));
  EXPECT_LT(hour, other_hour);
  EXPECT_TRUE(jobs.empty());
}

}  // namespace
}  // namespace trainyard::controller
