#include "controller/core/apply/heals.h"

#include "controller/core/apply/apply.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;

// Ranks 0 and 1 train on nodes a and b. Member 2 is a standby on c.
class HealsTest : public testing::Test {
 protected:
  HealsTest() {
    for (const char* id : {"a", "b", "c"}) cluster_.AddNode(id, 1);
    job_ = cluster_.Submit(SparesSpec("job", 2, 1, 1));
    cluster_.RunJob(job_);
  }

  // Returns the event of a heal in which `member` replaces rank 1.
  v1::Event Healing(int member) const {
    v1::Event event;
    v1::AttemptHealing& healing = *event.mutable_attempt_healing();
    healing.set_job_id(job_);
    healing.set_attempt(1);
    healing.set_generation(2);
    v1::Seat& seat = *healing.add_seats();
    seat.set_place(1);
    seat.set_member(member);
    return event;
  }

  v1::Event Healed(int64_t generation) const {
    v1::Event event;
    event.mutable_attempt_healed()->set_job_id(job_);
    event.mutable_attempt_healed()->set_attempt(1);
    event.mutable_attempt_healed()->set_generation(generation);
    return event;
  }

  TestCluster cluster_;
  int64_t job_ = 0;
};

// The heal's verdict already contains the output. Another copy of up to 8 KiB per rank would make
// the state too large.
TEST_F(HealsTest, ExitsBeforeAHealKeepNoOutput) {
  v1::RankExited exited;
  exited.set_rank(1);
  exited.set_exit_code(1);
  exited.set_log_tail("out of luck");
  cluster_.Exit(job_, exited);
  const JobEntry& entry = cluster_.state.jobs.at(job_);
  ASSERT_EQ(entry.exited_ranks.at(1).log_tail(), "out of luck");
  Apply(Healing(2), cluster_.state);
  EXPECT_EQ(entry.exited_ranks.at(1).log_tail(), "");
  EXPECT_EQ(entry.exited_ranks.at(1).exit_code(), 1);
}

TEST_F(HealsTest, AnAttemptCountsItsStandbys) { EXPECT_EQ(cluster_.Attempt(job_).standbys(), 1); }

TEST_F(HealsTest, ThePlaceOfANewMemberHasNoStragglerAndNoFailure) {
  JobEntry& entry = cluster_.state.jobs.at(job_);
  entry.slow_ranks = {0, 1};
  cluster_.ExitRank(job_, 1, 1);
  ASSERT_EQ(entry.first_failure_ms, cluster_.now);
  Apply(Healing(2), cluster_.state);
  EXPECT_THAT(entry.slow_ranks, ElementsAre(0));
  EXPECT_EQ(entry.first_failure_ms, 0);
}

TEST_F(HealsTest, ACompletedHealRecordsItsTimeAndItsLostSteps) {
  Apply(Healing(2), cluster_.state);
  v1::Event event = Healed(2);
  event.set_time_ms(1'234'567);
  event.mutable_attempt_healed()->set_lost_steps(3);
  Apply(event, cluster_.state);
  const v1::Heal& heal = cluster_.Attempt(job_).heals(0);
  EXPECT_EQ(heal.healed_ms(), 1'234'567);
  EXPECT_EQ(heal.lost_steps(), 3);
}

using HealsDeathTest = HealsTest;

TEST_F(HealsDeathTest, APlaceForAMemberThatIsNoStandbyEndsTheProcess) {
  EXPECT_DEATH(Apply(Healing(0), cluster_.state), "member 0 is not a standby");
  EXPECT_DEATH(Apply(Healing(3), cluster_.state), "member 3 is not a standby");
}

TEST_F(HealsDeathTest, AHealOfAnAttemptThatDoesNotRunEndsTheProcess) {
  v1::Event event = Healing(2);
  event.mutable_attempt_healing()->set_attempt(2);
  EXPECT_DEATH(Apply(event, cluster_.state), "job 1 does not run attempt 2");
  event.mutable_attempt_healing()->set_job_id(9);
  EXPECT_DEATH(Apply(event, cluster_.state), "job 9 does not run attempt 2");
  cluster_.Stop(job_);
  EXPECT_DEATH(Apply(Healing(2), cluster_.state), "job 1 does not run attempt 1");
}

TEST_F(HealsDeathTest, AHealThatSkipsAGenerationEndsTheProcess) {
  v1::Event event = Healing(2);
  event.mutable_attempt_healing()->set_generation(3);
  EXPECT_DEATH(Apply(event, cluster_.state), "job 1 cannot heal in this generation");
}

TEST_F(HealsDeathTest, TheCompletionOfAnOlderHealEndsTheProcess) {
  Apply(Healing(2), cluster_.state);
  EXPECT_DEATH(Apply(Healed(1), cluster_.state), "the heal belongs to an older generation");
}

}  // namespace
}  // namespace trainyard::controller
