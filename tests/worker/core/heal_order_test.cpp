#include "worker/core/heal_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/worker/core/action_text.h"

namespace trainyard::worker {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

// A standby has a higher number than every rank of the gang.
TEST(HealOrderTest, StandbysAreNoRanksOfTheGang) {
  Attempts attempts;
  v1::StartAttempt spare = StartOf(1, 1, 2);
  spare.set_world_size(2);
  spare.mutable_processes(0)->mutable_ranks(0)->set_rank(2);
  spare.mutable_processes(1)->mutable_ranks(0)->set_rank(3);
  EXPECT_THAT(Text(attempts.Start(spare, 0)), ElementsAre("refuse"));
  for (v1::Process& process : *spare.mutable_processes()) process.set_standby(true);
  EXPECT_THAT(Text(attempts.Start(spare, 0)), Not(Contains("refuse")));
  v1::StartAttempt gang = StartOf(2, 1, 1);
  gang.mutable_processes(0)->set_standby(true);
  EXPECT_THAT(Text(attempts.Start(gang, 0)), ElementsAre("refuse"));
}

v1::HealAttempt HealOf(int64_t job, int64_t attempt_number, int64_t generation,
                       const std::vector<int>& ranks) {
  v1::HealAttempt heal;
  heal.set_job_id(job);
  heal.set_attempt(attempt_number);
  heal.set_generation(generation);
  for (const int rank : ranks) heal.add_orders()->set_rank(rank);
  return heal;
}

TEST(HealOrderTest, AnOrderIsWrittenOnceForEachRankThatRuns) {
  Attempts attempts;
  attempts.Start(StartOf(1, 1, 2), 0);
  for (int rank = 0; rank < 2; ++rank) attempts.RankSpawned(Rank(1, 1, rank), 100, 5);
  attempts.RankEnded(ExitOf(1, 1, 1));
  const v1::HealAttempt heal = HealOf(1, 1, 2, {0, 1, 7});
  EXPECT_THAT(attempts.OrdersDue(heal), ElementsAre(Rank(1, 1, 0)));
  attempts.OrderWritten(Rank(1, 1, 0), 2);
  EXPECT_THAT(attempts.OrdersDue(heal), IsEmpty());
  EXPECT_EQ(attempts.Reports().front().ranks(0).ordered_generation(), 2);
  EXPECT_THAT(attempts.OrdersDue(HealOf(1, 1, 3, {0})), ElementsAre(Rank(1, 1, 0)));
  EXPECT_THAT(attempts.OrdersDue(HealOf(1, 2, 2, {0})), IsEmpty()) << "another attempt";
  attempts.Stop(StopOf(1, 1, 1000), 0);
  EXPECT_THAT(attempts.OrdersDue(HealOf(1, 1, 3, {0})), IsEmpty()) << "it is being stopped";
}

TEST(HealOrderTest, SaysThePlaceTheRendezvousAndWhoIsNew) {
  v1::HealAttempt command;
  command.set_generation(2);
  command.set_master_address("10.0.0.\"1");
  command.set_master_port(20001);
  command.add_replaced(2);
  command.add_replaced(3);
  v1::RankOrder& first = *command.add_orders();
  first.set_rank(0);
  v1::RankOrder& spare = *command.add_orders();
  spare.set_rank(8);
  spare.set_place(3);
  EXPECT_EQ(OrderText(command, 8),
            R"({"generation":2,"rank":3,"master_addr":"10.0.0.\"1","master_port":20001,)"
            R"("replaced":[2,3]})"
            "\n");
  EXPECT_NE(OrderText(command, 0).find(R"("rank":0)"), std::string::npos);
}

}  // namespace
}  // namespace trainyard::worker
