#include "controller/core/state/heals.h"

#include "controller/core/state/apply.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

// Ranks 0 and 1 train on the nodes a and b. Member 2 is a standby on c.
class HealsTest : public testing::Test {
 protected:
  HealsTest() {
    for (const char* id : {"a", "b", "c"}) cluster_.AddNode(id, 1);
    job_ = cluster_.Submit(SparesSpec("job", 2, 1, 1));
    cluster_.RunJob(job_);
  }

  // The member takes the place of rank 1.
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

  TestCluster cluster_;
  int64_t job_ = 0;
};

// The verdict of the heal has the output. 8 KiB per rank would make the state large.
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

using HealsDeathTest = HealsTest;

TEST_F(HealsDeathTest, APlaceForAMemberThatIsNoStandbyEndsTheProcess) {
  EXPECT_DEATH(Apply(Healing(0), cluster_.state), "member 0 is no standby");
  EXPECT_DEATH(Apply(Healing(3), cluster_.state), "member 3 is no standby");
}

}  // namespace
}  // namespace trainyard::controller
