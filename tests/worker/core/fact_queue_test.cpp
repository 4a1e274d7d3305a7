#include "worker/core/fact_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/worker/core/memory_facts.h"

namespace trainyard::worker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

v1::Fact ClearedOf(int64_t job) {
  v1::Fact fact;
  fact.mutable_attempt_cleared()->set_job_id(job);
  return fact;
}

// Returns a record with a sequence number and no fact.
v1::Fact NumberRecord(uint64_t sequence) {
  v1::Fact record;
  record.set_sequence(sequence);
  return record;
}

v1::Fact NumberedFact(uint64_t sequence) {
  v1::Fact fact = ClearedOf(1);
  fact.set_sequence(sequence);
  return fact;
}

std::vector<uint64_t> NumbersOf(const std::vector<v1::Fact>& facts) {
  std::vector<uint64_t> numbers;
  for (const v1::Fact& fact : facts) numbers.push_back(fact.sequence());
  return numbers;
}

class FactQueueTest : public testing::Test {
 protected:
  // Appends one fact for each of the jobs 1 to `count`.
  void Append(int count) {
    for (int job = 1; job <= count; ++job) ASSERT_TRUE(facts_.Append(ClearedOf(job)).ok());
  }
  void Welcome(uint64_t sequence) { ASSERT_TRUE(facts_.Reconcile(sequence).ok()); }
  // Compacts away the facts of jobs up to `job`. Facts of later jobs are still needed.
  void CompactUpTo(int64_t job) {
    const auto needed = [=](const v1::Fact& fact) { return fact.attempt_cleared().job_id() > job; };
    ASSERT_TRUE(facts_.Compact(needed).ok());
  }
  std::vector<uint64_t> Numbers() const { return NumbersOf(facts_.facts()); }

  MemoryFacts facts_;
};

// The disk may have lost up to 2^32 facts that the controller knows. A new fact must not get the
// number of a lost fact.
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

TEST_F(FactQueueTest, ExactlyHalfOfTheFactsIsEnoughForARewrite) {
  Welcome(0);
  Append(2);
  facts_.disk_bytes = kLargeDiskBytes;
  facts_.Acknowledge(2);
  CompactUpTo(1);
  EXPECT_THAT(Numbers(), ElementsAre(2));
}

TEST_F(FactQueueTest, TheDiskIsNotRewrittenWithoutADroppableFact) {
  Welcome(0);
  facts_.disk_bytes = kLargeDiskBytes;
  CompactUpTo(0);
  EXPECT_EQ(facts_.rewrites, 0);
}

TEST_F(FactQueueTest, FewerThan64KibibytesAreNotRewritten) {
  constexpr int64_t kFewest = 65'536;
  Welcome(0);
  Append(1);
  facts_.Acknowledge(1);
  facts_.disk_bytes = kFewest - 1;
  CompactUpTo(1);
  EXPECT_THAT(Numbers(), ElementsAre(1));
  facts_.disk_bytes = kFewest;
  CompactUpTo(1);
  EXPECT_THAT(Numbers(), IsEmpty());
}

TEST_F(FactQueueTest, ARewriteOfTheDiskPreservesTheLastNumber) {
  Welcome(0);
  Append(3);
  facts_.disk_bytes = kLargeDiskBytes;
  facts_.Acknowledge(3);
  CompactUpTo(3);
  EXPECT_THAT(NumbersOf(facts_.records), ElementsAre(3));
  MemoryFacts restarted;
  for (const v1::Fact& record : facts_.records) EXPECT_TRUE(restarted.Restore(record));
  EXPECT_EQ(restarted.last_sequence(), 3u);
  EXPECT_THAT(restarted.facts(), IsEmpty());
}

TEST_F(FactQueueTest, RecordsAreRestoredInAscendingOrderOnly) {
  EXPECT_TRUE(facts_.Restore(NumberedFact(4)));
  EXPECT_TRUE(facts_.Restore(NumberRecord(4))) << "the last record of a rewrite";
  EXPECT_TRUE(facts_.Restore(NumberedFact(5)));
  EXPECT_FALSE(facts_.Restore(NumberedFact(3)));
  EXPECT_THAT(Numbers(), ElementsAre(4, 5));
  EXPECT_EQ(facts_.last_sequence(), 5u);
}

TEST_F(FactQueueTest, AFactIsOnTheDiskBeforeItCounts) {
  Welcome(0);
  Append(1);
  facts_.write = absl::ResourceExhaustedError("disk full");
  EXPECT_FALSE(facts_.Append(ClearedOf(2)).ok());
  EXPECT_THAT(Numbers(), ElementsAre(1));
  EXPECT_EQ(facts_.last_sequence(), 1u);
  facts_.write = absl::OkStatus();
  Append(1);
  EXPECT_THAT(NumbersOf(facts_.records), ElementsAre(1, 2));
}

TEST_F(FactQueueTest, NewNumbersThatCouldNotBeWrittenPrecedeTheNextFact) {
  Append(1);
  facts_.write = absl::ResourceExhaustedError("disk full");
  EXPECT_FALSE(facts_.Reconcile(0).ok());
  EXPECT_THAT(Numbers(), ElementsAre(1)) << "the new number is valid nevertheless";
  facts_.write = absl::OkStatus();
  Append(1);
  EXPECT_THAT(NumbersOf(facts_.records), ElementsAre(1, 1, 2))
      << "a fact, the last number, and the next fact";
}

TEST_F(FactQueueTest, AllFactsFollowTheNumberOfAControllerThatKnowsMore) {
  Welcome(0);
  Append(2);
  Welcome(10);
  EXPECT_THAT(Numbers(), ElementsAre(11, 12));
}

TEST_F(FactQueueTest, AHoleIsClosedBehindTheFactsOfTheController) {
  for (const uint64_t number : {1u, 2u, 5u}) ASSERT_TRUE(facts_.Restore(NumberedFact(number)));
  Welcome(2);
  EXPECT_THAT(Numbers(), ElementsAre(1, 2, 3));
}

TEST_F(FactQueueTest, TheAcknowledgedFactIsNotUnacknowledged) {
  Welcome(0);
  Append(3);
  EXPECT_EQ(facts_.unacknowledged(), 3);
  facts_.Acknowledge(2);
  EXPECT_EQ(facts_.unacknowledged(), 1);
}

}  // namespace
}  // namespace trainyard::worker
