#include "worker/core/processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/worker/core/action_text.h"

namespace trainyard::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ProcessesTest, ACommandOfAnEarlierReleaseHasOneProcessPerRank) {
  v1::StartAttempt command;
  v1::RankStart& start = *command.add_ranks();
  start.set_rank(3);
  start.set_local_rank(1);
  start.set_slot(5);
  command.add_ranks()->set_rank(4);
  command.mutable_ranks(1)->set_standby(true);
  const v1::StartAttempt converted = WithProcesses(command);
  ASSERT_EQ(converted.processes_size(), 2);
  EXPECT_THAT(converted.processes(0).slots(), ElementsAre(5));
  ASSERT_EQ(converted.processes(0).ranks_size(), 1);
  EXPECT_EQ(converted.processes(0).ranks(0).rank(), 3);
  EXPECT_EQ(converted.processes(0).ranks(0).local_rank(), 1);
  EXPECT_FALSE(converted.processes(0).standby());
  EXPECT_TRUE(converted.processes(1).standby());
  EXPECT_THAT(RanksOf(converted), ElementsAre(3, 4));
  EXPECT_TRUE(CheckShapes(converted).ok());
}

TEST(ProcessesTest, ProcessesCountAndNotTheRanksForEarlierReleases) {
  v1::StartAttempt command = StartOf(1, 1, 2);
  command.add_ranks()->set_rank(7);
  EXPECT_THAT(RanksOf(WithProcesses(command)), ElementsAre(0, 1));
}

TEST(ProcessesTest, ALauncherIsIdentifiedByItsFirstRank) {
  v1::StartAttempt command = LauncherOf(1, 1, 3);
  *command.add_processes() = LauncherOf(1, 1, 1).processes(0);
  command.mutable_processes(1)->mutable_ranks(0)->set_rank(3);
  ASSERT_TRUE(CheckShapes(command).ok()) << CheckShapes(command);
  EXPECT_TRUE(IsLauncher(command.processes(0)));
  EXPECT_FALSE(IsLauncher(command.processes(1)));
  EXPECT_THAT(RanksOf(command), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(FirstRanksOf(command), ElementsAre(0, 3));
  EXPECT_EQ(FirstRankBeside(command, 2), 0);
  EXPECT_EQ(FirstRankBeside(command, 3), 3);
  EXPECT_EQ(FirstRankBeside(command, 9), 9) << "a rank of another node";
  EXPECT_THAT(RanksBeside(command, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(RanksBeside(command, 1), ElementsAre(1)) << "not the first rank of a process";
}

TEST(ProcessesTest, OtherShapesThanOneRankPerSlotAreRefused) {
  v1::StartAttempt two_ranks = StartOf(1, 1, 1);
  two_ranks.mutable_processes(0)->add_ranks()->set_rank(1);
  EXPECT_THAT(CheckShapes(two_ranks).message(), HasSubstr("2 ranks on 1 slot,"));
  v1::StartAttempt two_slots = StartOf(1, 1, 2);
  two_slots.mutable_processes(1)->add_slots(2);
  EXPECT_THAT(CheckShapes(two_slots).message(), HasSubstr("1 rank on 2 slots,"));
  v1::StartAttempt no_slot = StartOf(1, 1, 1);
  no_slot.mutable_processes(0)->clear_slots();
  EXPECT_THAT(CheckShapes(no_slot).message(), HasSubstr("1 rank on 0 slots,"));
  v1::StartAttempt standby = LauncherOf(1, 1, 2);
  standby.mutable_processes(0)->set_standby(true);
  EXPECT_THAT(CheckShapes(standby).message(), HasSubstr("a standby has 2 ranks"));
}

}  // namespace
}  // namespace trainyard::worker
