#include "worker/core/fact_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/worker/core/memory_facts.h"

namespace trainyard::worker {
namespace {

using testing::ElementsAre;

v1::Fact ClearedOf(int64_t job) {
  v1::Fact fact;
  fact.mutable_attempt_cleared()->set_job_id(job);
  return fact;
}

class FactQueueTest : public testing::Test {
 protected:
  // Appends the facts of jobs 1 to `count`.
  void Append(int count) {
    for (int job = 1; job <= count; ++job) ASSERT_TRUE(facts_.Append(ClearedOf(job)).ok());
  }
  void Welcome(uint64_t sequence) { ASSERT_TRUE(facts_.Reconcile(sequence).ok()); }
  // Compacts; the facts of jobs above `job` are needed.
  void CompactUpTo(int64_t job) {
    const auto needed = [=](const v1::Fact& fact) { return fact.attempt_cleared().job_id() > job; };
    ASSERT_TRUE(facts_.Compact(needed).ok());
  }
  std::vector<uint64_t> Numbers() const {
    std::vector<uint64_t> numbers;
    for (const v1::Fact& fact : facts_.facts()) numbers.push_back(fact.sequence());
    return numbers;
  }

  MemoryFacts facts_;
};

// The controller may know up to 2^32 facts that this disk has lost.
TEST_F(FactQueueTest, FactsBeforeTheFirstWelcomeAreNumberedFarAboveTheLostOnes) {
  constexpr uint64_t kFirst = uint64_t{1} << 32;
  Append(2);
  EXPECT_THAT(Numbers(), ElementsAre(kFirst, kFirst + 1));
  Welcome(7);
  EXPECT_THAT(Numbers(), ElementsAre(8, 9));
}

TEST_F(FactQueueTest, AWelcomeWithoutAGapRewritesNothing) {
  Welcome(0);
  Append(3);
  Welcome(1);
  Welcome(3);
  EXPECT_EQ(facts_.rewrites, 0);
  EXPECT_THAT(Numbers(), ElementsAre(1, 2, 3));
}

TEST_F(FactQueueTest, NewNumbersAreWrittenOnce) {
  Append(1);
  Welcome(0);
  EXPECT_EQ(facts_.rewrites, 1);
  Append(1);
  EXPECT_EQ(facts_.rewrites, 1);
  EXPECT_THAT(Numbers(), ElementsAre(1, 2));
}

TEST_F(FactQueueTest, TheDiskIsRewrittenOnceHalfOfTheFactsCanBeDropped) {
  Welcome(0);
  Append(5);
  facts_.disk_bytes = kLargeDiskBytes;
  facts_.Acknowledge(5);
  CompactUpTo(2);
  EXPECT_EQ(facts_.rewrites, 0);
  CompactUpTo(3);
  EXPECT_EQ(facts_.rewrites, 1);
  EXPECT_THAT(Numbers(), ElementsAre(4, 5));
}

}  // namespace
}  // namespace trainyard::worker
