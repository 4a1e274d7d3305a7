#include "controller/core/decide/exec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "controller/core/decide/references.h"
#include "proto/contract/limits.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

v1::ExecCommand CommandOf(const std::string& program) {
  v1::ExecCommand command;
  command.add_argv(program);
  return command;
}

v1::ExecCommand Shell() {
  v1::ExecCommand command;
  command.set_terminal(true);
  command.set_terminal_type("xterm-256color");
  command.mutable_size()->set_rows(24);
  command.mutable_size()->set_columns(80);
  return command;
}

class ExecTest : public testing::Test {
 protected:
  ExecTest() {
    cluster_.AddNode("a", 1);
    cluster_.AddNode("b", 1);
    job_ = cluster_.Submit("job", 2, 1);
  }

  absl::StatusOr<ExecTarget> Target(int place) const {
    return FindExecTarget(cluster_.state.jobs.at(job_), place);
  }
  std::string Problem(int place) const { return std::string(Target(place).status().message()); }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(ExecTest, TheTargetIsARunningRank) {
  EXPECT_EQ(Problem(0),
            "job 1 (job) is queued (`trainyard why 1` shows why it waits); exec needs a running "
            "rank");
  cluster_.Settle();
  EXPECT_THAT(Problem(1), HasSubstr("has rank 1, which has not started yet"));
  cluster_.RunJob(job_);
  ASSERT_TRUE(Target(1).ok());
  EXPECT_EQ(Target(1)->attempt, (AttemptKey{job_, 1}));
  EXPECT_EQ(Target(1)->place, 1);
  EXPECT_EQ(Target(1)->node_id, cluster_.Attempt(job_).ranks(1).node_id());
  for (const int rank : {-1, 2}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Target(rank).status())) << rank;
    EXPECT_THAT(Problem(rank), HasSubstr("its ranks are 0 to 1"));
  }
  cluster_.ExitRank(job_, 1, 0);
  EXPECT_THAT(Problem(1), HasSubstr("has rank 1, which has exited"));
  EXPECT_TRUE(Target(0).ok());
  cluster_.ExitAll(job_, 0);
  cluster_.ClearAll(job_);
  EXPECT_EQ(Problem(0),
            "job 1 (job) has ended (`trainyard logs 1` shows its output); exec needs a running "
            "rank");
}

TEST_F(ExecTest, AJobBetweenAttemptsAndAPausedJobNameTheNextStep) {
  cluster_.RunJob(job_);
  cluster_.ExitAll(job_, 1);
  cluster_.ClearAll(job_);
  EXPECT_THAT(Problem(0), HasSubstr("is between two attempts (`trainyard why 1` shows"));
  PauseJob pause;
  pause.request.set_job("job");
  pause.principal = {"ada"};
  cluster_.Do(pause);
  EXPECT_THAT(Problem(0), HasSubstr("is paused (`trainyard resume 1` returns it to the queue)"));
}

TEST_F(ExecTest, AnArrayNamesItsElements) {
  v1::JobSpec spec = TestSpec("sweep", 1, 1);
  (*spec.mutable_matrix())["env.SEED"] = "1..3";
  const int64_t array = cluster_.Submit(spec);
  EXPECT_EQ(std::string(FindExecTarget(cluster_.state.jobs.at(array), 0).status().message()),
            "job 2 (sweep) is an array and has no ranks; name an element, such as sweep.0, or a "
            "rank of it, such as sweep.0.1. `trainyard array sweep` lists the elements");
  EXPECT_THAT(std::string(FindJob(cluster_.state, "sweep.2").status().message()),
              HasSubstr("the element `sweep.2` of job 2 (sweep) is not a job; elements become jobs "
                        "when they can start"));
}

TEST_F(ExecTest, TheSessionIsRecordedWithUserAndCommand) {
  cluster_.RunJob(job_);
  OpenExecSession request{
      {job_, 1}, 1, CommandOf("python3"), {"ada", Verification::kPeerCredentials}};
  request.command.add_argv("-c");
  request.command.add_argv("print(1)\n\x1b[2J");
  const auto events = cluster_.Do(request);
  ASSERT_THAT(Kinds(events), ElementsAre("ExecOpened"));
  EXPECT_EQ(events[0].actor(), "user ada");
  EXPECT_TRUE(events[0].actor_verified());
  const v1::ExecOpened& opened = events[0].exec_opened();
  EXPECT_EQ(opened.job_id(), job_);
  EXPECT_EQ(opened.attempt(), 1);
  EXPECT_EQ(opened.rank(), 1);
  EXPECT_EQ(opened.node_id(), cluster_.Attempt(job_).ranks(1).node_id());
  EXPECT_EQ(opened.command(), "python3 -c print(1)\\u000a\\u001b[2J");
  request.command = CommandOf(std::string(10'000, 'x'));
  EXPECT_EQ(cluster_.Do(request)[0].exec_opened().command().size(), kMaxReasonBytes);
  request.command = Shell();
  EXPECT_EQ(cluster_.Do(request)[0].exec_opened().command(), "");
}

TEST_F(ExecTest, ASessionBesideAnEndedAttemptIsRefused) {
  cluster_.RunJob(job_);
  const OpenExecSession request{{job_, 1}, 0, CommandOf("true"), {"ada"}};
  ASSERT_TRUE(cluster_.Try(request).ok());
  cluster_.ExitAll(job_, 1);
  cluster_.ClearAll(job_);
  EXPECT_TRUE(absl::IsFailedPrecondition(cluster_.Try(request)));
  cluster_.Pass(1500);
  cluster_.RunJob(job_);
  EXPECT_THAT(std::string(cluster_.Try(request).message()),
              HasSubstr("has just started a new attempt"));
}

TEST_F(ExecTest, TheEventChangesNoState) {
  cluster_.RunJob(job_);
  const std::string before = Bytes(cluster_.state);
  cluster_.Do(OpenExecSession{{job_, 1}, 0, CommandOf("true"), {"ada"}});
  EXPECT_EQ(Bytes(cluster_.state), before);
}

TEST(ExecCommandTest, BadInputIsRefused) {
  EXPECT_TRUE(CheckExecCommand(CommandOf("true")).ok());
  EXPECT_TRUE(CheckExecCommand(Shell()).ok());
  v1::ExecCommand command;
  EXPECT_THAT(std::string(CheckExecCommand(command).message()), HasSubstr("the command is empty"));
  EXPECT_FALSE(CheckExecCommand(CommandOf("")).ok());
  EXPECT_FALSE(CheckExecCommand(CommandOf(std::string("a\0b", 3))).ok());
  EXPECT_TRUE(CheckExecCommand(CommandOf(std::string(kMaxExecCommandBytes - 1, 'x'))).ok());
  EXPECT_FALSE(CheckExecCommand(CommandOf(std::string(kMaxExecCommandBytes, 'x'))).ok());
  for (const char* type : {"a b", "x;y", "\x1b[2J", "../x/"}) {
    command = Shell();
    command.set_terminal_type(type);
    EXPECT_FALSE(CheckExecCommand(command).ok()) << type;
  }
  for (const int side : {0, -1, 10'001}) {
    command = Shell();
    command.mutable_size()->set_rows(side);
    EXPECT_FALSE(CheckExecCommand(command).ok()) << side;
    command = Shell();
    command.mutable_size()->set_columns(side);
    EXPECT_FALSE(CheckExecCommand(command).ok()) << side;
  }
}

}  // namespace
}  // namespace trainyard::controller
