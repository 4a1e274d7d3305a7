#include "controller/core/verdict/launcher_exit.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::controller {
namespace {

// The launcher of ranks 4 to 7.
class LauncherExitTest : public ::testing::Test {
 protected:
  LauncherExitTest() {
    entry_.job.mutable_spec()->mutable_resources()->set_slots_per_node(4);
    entry_.job.mutable_spec()->mutable_launch()->set_processes_per_node(1);
    for (int rank = 4; rank < 8; ++rank) entry_.exited_ranks[rank].set_rank(rank);
  }

  int BlamedBy(const std::string& log_tail) {
    entry_.exited_ranks[4].set_log_tail(log_tail);
    return ExitOfBlamedRank(entry_, entry_.exited_ranks[4]).rank();
  }

  JobEntry entry_;
};

TEST_F(LauncherExitTest, TheLabelOfTheErrorLineNamesTheRank) {
  EXPECT_EQ(BlamedBy("[rank6]: ValueError: no shard 7\n[rank5]: step 9\n"), 6);
  EXPECT_EQ(BlamedBy("[default1]:ValueError: no shard 7\n[default0]:step 9\n"), 5);
  EXPECT_EQ(BlamedBy("ValueError: no shard 7\n[rank5]: step 9\n"), 4) << "the error has no label";
}

TEST_F(LauncherExitTest, TheTableOfTorchrunNamesTheRank) {
  const std::string table = R"(
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2026-11-29_10:00:01
  host      : n2
  rank      : 5 (local_rank: 1)
  exitcode  : -6 (pid: 102)
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-29_10:00:00
  host      : n2
  rank      : 7 (local_rank: 3)
  exitcode  : 1 (pid: 104)
============================================================
)";
  EXPECT_EQ(BlamedBy("ValueError: no shard 7\n" + table), 7);
  EXPECT_EQ(BlamedBy("[rank6]: ValueError: no shard 7\n" + table), 6) << "the label precedes";
}

// torchrun saw rank 4 fail first, but rank 4 only lost its peer.
TEST_F(LauncherExitTest, AnEntryWithTheErrorPrecedesTheRootCauseOfTorchrun) {
  const std::string table = R"(
Failures:
[1]:
  rank      : 5 (local_rank: 1)
  exitcode  : 1 (pid: 102)
  traceback : Traceback (most recent call last):
      raise ValueError("shard 8 is damaged")
  ValueError: shard 8 is damaged
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  rank      : 4 (local_rank: 0)
  exitcode  : 1 (pid: 101)
  traceback : Traceback (most recent call last):
  RuntimeError: [./gloo/transport/tcp/pair.cc:598] Connection closed by peer [127.0.0.1]:3511
)";
  EXPECT_EQ(BlamedBy("ValueError: shard 8 is damaged\n" + table), 5);
  EXPECT_EQ(BlamedBy("KeyError: 'of no entry'\n" + table), 4) << "the root cause of torchrun";
}

TEST_F(LauncherExitTest, RanksOfOtherProcessesAreNotBlamed) {
  EXPECT_EQ(BlamedBy("[rank1]: ValueError: of another launcher\n"), 4);
  EXPECT_EQ(BlamedBy("[default4]:ValueError: beyond the last\n"), 4);
  EXPECT_EQ(BlamedBy("[rank999999]: ValueError: x\n"), 4);
  EXPECT_EQ(BlamedBy(""), 4);
  entry_.exited_ranks.erase(6);
  EXPECT_EQ(BlamedBy("[rank6]: ValueError: its exit is unknown\n"), 4);
}

TEST_F(LauncherExitTest, AProcessOfOneRankIsBlamedItself) {
  entry_.job.mutable_spec()->clear_launch();
  EXPECT_EQ(BlamedBy("[rank6]: ValueError: no shard 7\n"), 4);
}

}  // namespace
}  // namespace trainyard::controller
