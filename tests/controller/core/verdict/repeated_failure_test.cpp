#include "controller/core/verdict/repeated_failure.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::HasSubstr;

class RepeatedFailureTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* id : {"a", "b", "c"}) cluster_.AddNode(id, 2);
  }

  void Submit(const std::vector<std::string>& rules = {}) {
    v1::JobSpec spec = TestSpec("job", 2, 2);
    spec.mutable_restart()->set_max_restarts(10);
    spec.mutable_restart()->mutable_backoff()->set_seconds(1);
    spec.mutable_restart()->mutable_backoff_max()->set_seconds(1);
    for (const std::string& rule : rules) spec.mutable_restart()->add_rules(rule);
    job_ = cluster_.Submit(spec);
    cluster_.RunJob(job_);
  }

  static v1::RankExited Exit(int rank, int code, const std::string& tail = "") {
    v1::RankExited exited;
    exited.set_rank(rank);
    exited.set_exit_code(code);
    exited.set_log_tail(tail);
    return exited;
  }
  static v1::RankExited Signaled(int rank, int signal) {
    v1::RankExited exited = Exit(rank, 0);
    exited.set_signal(signal);
    return exited;
  }

  // Ends the attempt by this exit of a rank. Starts the next attempt unless the job has ended.
  void Fail(v1::RankExited exited, int64_t step = 0) {
    if (step > 0) cluster_.Step(job_, 0, step, 0.1);
    exited.set_time_ms(cluster_.now);
    cluster_.Exit(job_, exited);
    cluster_.Settle();
    cluster_.ClearAll(job_);
    cluster_.Pass(2000);
    if (State() == v1::JOB_STATE_STARTING) cluster_.StartAll(job_);
  }

  v1::JobState State() const { return cluster_.StateOf(job_); }
  std::string Summary() const { return cluster_.Job(job_).verdict().summary(); }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(RepeatedFailureTest, AnExceptionBeforeTheFirstStepGetsOneMoreTry) {
  Submit();
  Fail(Exit(0, 1, "ModuleNotFoundError: No module named 'x'\n"));
  ASSERT_EQ(State(), v1::JOB_STATE_RUNNING);
  Fail(Exit(3, 2, "KeyError: 'y'\n"));
  EXPECT_EQ(State(), v1::JOB_STATE_FAILED) << "whatever rank and code";
  EXPECT_EQ(cluster_.Job(job_).restarts(), 1);
  EXPECT_FALSE(cluster_.Job(job_).verdict().restartable());
  EXPECT_EQ(Summary(),
            "rank 3 on b exited with code 2: KeyError: 'y'; attempt 1 also failed before its first "
            "step, so another attempt would fail the same way; to retry anyway, add a rule `retry "
            "PATTERN` to restart.rules");
  EXPECT_EQ(cluster_.Job(job_).verdict().error_line(), "KeyError: 'y'");
}

TEST_F(RepeatedFailureTest, TheSameFailureAtTheSameStepEndsTheJob) {
  Submit();
  Fail(Exit(1, 1, "IndexError: index 17\n"), 57);
  ASSERT_EQ(State(), v1::JOB_STATE_RUNNING);
  Fail(Exit(1, 1, "IndexError: index 18\n"), 57);
  EXPECT_EQ(State(), v1::JOB_STATE_FAILED);
  EXPECT_THAT(Summary(), HasSubstr("attempt 1 failed in the same way at step 57, with no newer"));
}

TEST_F(RepeatedFailureTest, AnotherStepRankCodeOrErrorIsAnotherFailure) {
  Submit();
  Fail(Exit(1, 1, "IndexError: 1\n"), 57);
  Fail(Exit(1, 1, "IndexError: 1\n"), 58);
  Fail(Exit(2, 1, "IndexError: 1\n"), 58);
  Fail(Exit(2, 3, "IndexError: 1\n"), 58);
  Fail(Exit(2, 3, "KeyError: 1\n"), 58);
  Fail(Signaled(2, 11), 58);
  EXPECT_EQ(State(), v1::JOB_STATE_RUNNING);
  Fail(Signaled(2, 11), 58);
  EXPECT_EQ(State(), v1::JOB_STATE_FAILED);
}

TEST_F(RepeatedFailureTest, ANewerCheckpointIsProgress) {
  Submit();
  Fail(Exit(1, 1), 57);
  cluster_.Publish(job_, 50);
  Fail(Exit(1, 1), 57);
  EXPECT_EQ(State(), v1::JOB_STATE_RUNNING);
  Fail(Exit(1, 1), 57);
  EXPECT_EQ(State(), v1::JOB_STATE_FAILED);
}

TEST_F(RepeatedFailureTest, SignalsFromOutsideAndFaultsOfSurroundingsAreNotCounted) {
  Submit();
  for (int i = 0; i < 2; ++i) {
    Fail(Signaled(1, 9));
    Fail(Exit(1, 137));
    Fail(Exit(1, 69));
    Fail(Exit(1, 1, "RuntimeError: CUDA error: uncorrectable ECC error\n"));
    Fail(Exit(1, 1, "torch.distributed.DistNetworkError: timed out\n"));
  }
  EXPECT_EQ(State(), v1::JOB_STATE_RUNNING);
}

TEST_F(RepeatedFailureTest, AFaultOfSurroundingsEndsNoRow) {
  Submit();
  Fail(Exit(1, 1));
  Fail(Signaled(1, 9));
  Fail(Exit(1, 75));
  ASSERT_EQ(State(), v1::JOB_STATE_RUNNING);
  Fail(Exit(1, 1));
  EXPECT_EQ(State(), v1::JOB_STATE_FAILED);
}

TEST_F(RepeatedFailureTest, AProgramWithoutStepsThatRanForLongIsTriedAgain) {
  Submit();
  for (int i = 0; i < 3; ++i) {
    cluster_.Pass(kLongestFailedStartMs + 1000);
    Fail(Exit(1, 1, "ValueError: x\n"));
    ASSERT_EQ(State(), v1::JOB_STATE_RUNNING) << i;
  }
}

TEST_F(RepeatedFailureTest, AShortFailureAfterALongOneWithoutStepsIsTriedAgain) {
  Submit();
  cluster_.Pass(kLongestFailedStartMs + 1000);
  Fail(Exit(1, 1, "ValueError: x\n"));
  ASSERT_EQ(State(), v1::JOB_STATE_RUNNING);
  Fail(Exit(1, 1, "ValueError: x\n"));
  EXPECT_EQ(State(), v1::JOB_STATE_RUNNING);
}

// A shell reports SIGABRT as exit code 128 + 6.
TEST_F(RepeatedFailureTest, AnAbortThatAShellReportsIsOfTheProgram) {
  Submit();
  Fail(Exit(1, 134), 57);
  ASSERT_EQ(State(), v1::JOB_STATE_RUNNING);
  Fail(Exit(1, 134), 57);
  EXPECT_EQ(State(), v1::JOB_STATE_FAILED);
}

TEST_F(RepeatedFailureTest, AProgramThatTheShellDoesNotFindIsTriedOnceOnAnotherNode) {
  Submit();
  Fail(Exit(0, 127));
  ASSERT_EQ(State(), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(cluster_.Placement(job_), "c:0 c:1 b:0 b:1");
  Fail(Exit(0, 126));
  EXPECT_EQ(State(), v1::JOB_STATE_FAILED);
  EXPECT_THAT(Summary(), HasSubstr("; a could not start the rank either"));
}

TEST_F(RepeatedFailureTest, ARuleOfTheJobDecidesFirst) {
  Submit({"fail out of memory => lower train.micro_batch", "retry ValueError",
          "other_node bad (disk|fan)"});
  for (int i = 0; i < 3; ++i) Fail(Exit(0, 1, "ValueError: again\n"));
  ASSERT_EQ(State(), v1::JOB_STATE_RUNNING) << "the rule says so";
  Fail(Exit(0, 1, "the node has a bad fan\n"));
  ASSERT_EQ(State(), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(cluster_.Placement(job_), "c:0 c:1 b:0 b:1");
  EXPECT_EQ(cluster_.Job(job_).attempts(3).verdict().action(), v1::FAILURE_ACTION_OTHER_NODE);
  Fail(Exit(0, 1, "the node has a bad disk\n"));
  ASSERT_EQ(State(), v1::JOB_STATE_RUNNING) << "no other two nodes are left";
  EXPECT_EQ(cluster_.Job(job_).attempts(4).verdict().action(), v1::FAILURE_ACTION_RETRY);
  Fail(Exit(0, 1, "RuntimeError: CUDA out of memory\n"));
  EXPECT_EQ(State(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(Summary(),
            "rank 0 on c exited with code 1: RuntimeError: CUDA out of memory; restart.rules "
            "chose fail, because the output matches `out of memory`: lower train.micro_batch");
}

// sys.exit(-1) gives exit code 255, which shells never use for a signal.
TEST_F(RepeatedFailureTest, AHighExitCodeIsNoSignal) {
  Submit();
  Fail(Exit(1, 255), 57);
  Fail(Exit(1, 255), 57);
  EXPECT_EQ(State(), v1::JOB_STATE_FAILED);
}

// If the rule avoided a node, the only node that can run the job would be avoided forever, and the
// job would stay queued.
TEST_F(RepeatedFailureTest, ARuleThatTriesAgainAvoidsNoNode) {
  Submit({"retry command not found"});
  Fail(Exit(0, 127, "sh: command not found\n"));
  EXPECT_EQ(State(), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(cluster_.Placement(job_), "a:0 a:1 b:0 b:1");
}

TEST_F(RepeatedFailureTest, ARuleMayTryAgainWhatIsOtherwiseFinal) {
  Submit({"retry no lease yet"});
  Fail(Exit(0, 78, "no lease yet\n"));
  EXPECT_EQ(State(), v1::JOB_STATE_RUNNING);
  Fail(Exit(0, 78, "wrong settings\n"));
  EXPECT_EQ(State(), v1::JOB_STATE_FAILED);
}

// A job with two attempts. In each, rank 0 exited with code 1 after 1 s, before the first step.
class TwoFailuresTest : public ::testing::Test {
 protected:
  static constexpr Timestamp kPlaced = 1000, kEnded = 2000;

  TwoFailuresTest() {
    AddFailure();
    AddFailure();
  }

  void AddFailure() {
    v1::Attempt& attempt = *entry_.job.add_attempts();
    attempt.set_number(entry_.job.attempts_size());
    attempt.set_state(v1::ATTEMPT_STATE_ENDED);
    attempt.set_placed_time_ms(kPlaced);
    attempt.set_ended_time_ms(kEnded);
    attempt.mutable_verdict()->set_cause(v1::VERDICT_CAUSE_RANK_EXITED);
    attempt.mutable_verdict()->set_exit_code(1);
  }

  v1::Verdict& VerdictAt(int index) {
    return *entry_.job.mutable_attempts(index)->mutable_verdict();
  }
  void SetSignal(int signal, v1::Verdict& verdict) {
    verdict.set_cause(v1::VERDICT_CAUSE_RANK_SIGNALED);
    verdict.set_exit_code(0);
    verdict.set_signal(signal);
  }

  std::string Why(int64_t last_step = 0, Timestamp now = kEnded) const {
    return WhyItWouldRepeat(entry_, last_step, now);
  }

  JobEntry entry_;
};

TEST_F(TwoFailuresTest, OnlyFailuresOfTheProgramWouldRepeat) {
  EXPECT_THAT(Why(), HasSubstr("attempt 1 also failed before its first step"));
  VerdictAt(1).set_exit_code(69);
  EXPECT_EQ(Why(), "");
  EXPECT_EQ(WhyItWouldRepeat(JobEntry(), 0, kEnded), "") << "without an attempt";
}

TEST_F(TwoFailuresTest, ALossOfANodeInBetweenIsSkippedAndAHangIsNot) {
  AddFailure();
  for (const v1::VerdictCause cause : {v1::VERDICT_CAUSE_NODE_LOST, v1::VERDICT_CAUSE_NODE_FAULT}) {
    VerdictAt(1).set_cause(cause);
    EXPECT_THAT(Why(), HasSubstr("attempt 1 also failed")) << v1::VerdictCause_Name(cause);
  }
  VerdictAt(1).set_cause(v1::VERDICT_CAUSE_STALLED);
  EXPECT_EQ(Why(), "");
}

TEST_F(TwoFailuresTest, AFailedStartMayTakeTenMinutes) {
  EXPECT_NE(Why(0, kPlaced + kLongestFailedStartMs), "");
  EXPECT_EQ(Why(0, kPlaced + kLongestFailedStartMs + 1), "");
  entry_.job.mutable_attempts(0)->set_ended_time_ms(kPlaced + kLongestFailedStartMs);
  EXPECT_NE(Why(), "");
  entry_.job.mutable_attempts(0)->set_ended_time_ms(kPlaced + kLongestFailedStartMs + 1);
  EXPECT_EQ(Why(), "");
}

TEST_F(TwoFailuresTest, AFailureAfterStepsDoesNotRepeatOneBeforeTheFirstStep) {
  EXPECT_EQ(Why(57), "");
  entry_.job.mutable_attempts(0)->set_last_step(57);
  EXPECT_THAT(Why(57), HasSubstr("attempt 1 failed in the same way at step 57"));
  EXPECT_EQ(Why(0), "");
}

TEST_F(TwoFailuresTest, ASignalBeforeTheFirstStepRepeatsOnlyTheSameSignal) {
  SetSignal(11, VerdictAt(1));
  EXPECT_EQ(Why(), "");
  SetSignal(6, VerdictAt(0));
  EXPECT_EQ(Why(), "");
  SetSignal(11, VerdictAt(0));
  EXPECT_THAT(Why(), HasSubstr("attempt 1 also failed before its first step"));
}

TEST_F(TwoFailuresTest, AnUnknownErrorLineMayBeAnyLine) {
  VerdictAt(0).set_error_line("ValueError: x");
  EXPECT_TRUE(IsSameProgramError(VerdictAt(0), VerdictAt(1)));
  EXPECT_TRUE(IsSameProgramError(VerdictAt(1), VerdictAt(0)));
  VerdictAt(1).set_error_line("KeyError: y");
  EXPECT_FALSE(IsSameProgramError(VerdictAt(0), VerdictAt(1)));
}

TEST_F(TwoFailuresTest, AProgramCausesSomeSignalsItself) {
  for (const int signal : {4, 5, 6, 7, 8, 11, 31}) {
    SetSignal(signal, VerdictAt(0));
    EXPECT_TRUE(IsSameProgramError(VerdictAt(0), VerdictAt(0))) << signal;
  }
  for (const int signal : {1, 2, 9, 15, 64}) {
    SetSignal(signal, VerdictAt(0));
    EXPECT_FALSE(IsSameProgramError(VerdictAt(0), VerdictAt(0))) << signal;
  }
}

// A shell reports signal N (1 to 64) as exit code 128 + N.
TEST_F(TwoFailuresTest, ExitCodesOfShellsAreSignals) {
  for (const int code : {128, 132, 133, 134, 135, 136, 139, 159, 193}) {
    VerdictAt(0).set_exit_code(code);
    EXPECT_TRUE(IsSameProgramError(VerdictAt(0), VerdictAt(0))) << code;
  }
  for (const int code : {129, 137, 143, 191, 192}) {
    VerdictAt(0).set_exit_code(code);
    EXPECT_FALSE(IsSameProgramError(VerdictAt(0), VerdictAt(0))) << code;
  }
}

}  // namespace
}  // namespace trainyard::controller
