#include "controller/core/explain/other_reasons.h"

#include <string>
#include <utility>
#include <vector>

#include "controller/core/explain/explain.h"
#include "controller/core/explain/pending_reason.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

// A job runs on both slots of the only node, and the head waits for them.
class OtherReasonsTest : public ::testing::Test {
 protected:
  OtherReasonsTest() {
    cluster_.AddNode("a", 2);
    runs_ = cluster_.Submit("runs", 1, 2);
    cluster_.RunJob(runs_);
    head_ = cluster_.Submit("head", 1, 2);
    cluster_.Settle();
  }

  // Returns the reason with the others.
  v1::PendingReason Why(int64_t job) const {
    return ExplainJob(cluster_.View(), cluster_.state.jobs.at(job)).pending();
  }

  std::vector<v1::PendingCode> OtherCodes(int64_t job) const {
    std::vector<v1::PendingCode> codes;
    const v1::PendingReason why = Why(job);
    for (const v1::OtherReason& other : why.others()) codes.push_back(other.code());
    return codes;
  }

  TestCluster cluster_;
  int64_t runs_ = 0, head_ = 0;
};

TEST_F(OtherReasonsTest, TheReasonOfTheHeadNamesEverything) {
  EXPECT_EQ(Why(head_).code(), v1::PENDING_CODE_RESOURCES);
  EXPECT_THAT(Why(head_).others(), IsEmpty());
}

TEST_F(OtherReasonsTest, ARunningJobHasNone) { EXPECT_THAT(Why(runs_).others(), IsEmpty()); }

TEST_F(OtherReasonsTest, AJobBehindTheHeadAlsoLacksSlots) {
  const int64_t job = cluster_.Submit("second", 1, 1);
  ASSERT_EQ(Why(job).code(), v1::PENDING_CODE_PRIORITY);
  ASSERT_THAT(OtherCodes(job), ElementsAre(v1::PENDING_CODE_RESOURCES));
  EXPECT_THAT(Why(job).others(0).message(), StartsWith("needs 1 node with 1 cpu slot; "));
}

TEST_F(OtherReasonsTest, AJobThatWouldDelayTheHeadHasEnoughSlots) {
  cluster_.AddNode("b", 1);
  v1::JobSpec spec = TestSpec("wide", 2, 1);
  spec.set_priority(1);
  cluster_.Submit(spec);
  const int64_t job = cluster_.Submit("third", 1, 1);
  cluster_.Settle();
  ASSERT_EQ(Why(job).code(), v1::PENDING_CODE_PRIORITY);
  ASSERT_THAT(OtherCodes(job), ElementsAre(v1::PENDING_CODE_RESOURCES));
  EXPECT_EQ(Why(job).others(0).message(),
            "1 node could take it, but it would delay a job that is promised a time");
}

TEST_F(OtherReasonsTest, AJobAtALimitAlsoWaitsForItsTurnAndForSlots) {
  SetQueue set{.request = {}, .principal = {"ada"}};
  set.request.mutable_queue()->set_name("default");
  v1::SlotQuota& quota = *set.request.mutable_queue()->add_quotas();
  quota.set_device(v1::DEVICE_KIND_CPU);
  quota.set_max_slots(2);
  cluster_.Do(set);
  const int64_t job = cluster_.Submit("second", 1, 1);
  ASSERT_EQ(Why(job).code(), v1::PENDING_CODE_QUOTA);
  ASSERT_THAT(OtherCodes(job), ElementsAre(v1::PENDING_CODE_PRIORITY, v1::PENDING_CODE_RESOURCES));
  EXPECT_EQ(Why(job).others(0).message(), "1 waiting job precedes it in the order of the queue");
}

TEST_F(OtherReasonsTest, ADependentJobKnowsWhatFollowsItsConditions) {
  v1::JobSpec spec = TestSpec("later", 1, 2);
  spec.add_after("runs");
  const int64_t job = cluster_.Submit(spec);
  ASSERT_EQ(Why(job).code(), v1::PENDING_CODE_DEPENDENCY);
  EXPECT_THAT(OtherCodes(job), ElementsAre(v1::PENDING_CODE_PRIORITY, v1::PENDING_CODE_RESOURCES));
}

TEST_F(OtherReasonsTest, ARecoveringJobKeepsItsSlots) {
  cluster_.ExitAll(runs_, 1);
  cluster_.ClearAll(runs_);
  ASSERT_EQ(Why(runs_).code(), v1::PENDING_CODE_BACKOFF);
  EXPECT_THAT(OtherCodes(runs_), IsEmpty());
}

TEST_F(OtherReasonsTest, LongMessagesAreCut) {
  for (int i = 0; i < 5; ++i) {
    CordonNode cordon{.request = {}, .principal = {"ada"}};
    const std::string id = "n" + std::to_string(i);
    cluster_.AddNode(id, 2);
    cordon.request.set_node(id);
    cordon.request.set_cordoned(true);
    cordon.request.set_reason(std::string(100, 'x'));
    cluster_.Do(cordon);
  }
  const int64_t job = cluster_.Submit("second", 1, 1);
  ASSERT_THAT(OtherCodes(job), ElementsAre(v1::PENDING_CODE_RESOURCES));
  EXPECT_THAT(Why(job).others(0).message(), SizeIs(kOtherReasonBytes));
  EXPECT_THAT(Why(job).others(0).message(), HasSubstr("n0 is cordoned: xxx"));
}

}  // namespace
}  // namespace trainyard::controller
