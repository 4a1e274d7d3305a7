// Tests `why`.
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class WhyTest : public CliFixture {};

TEST_F(WhyTest, WhyAnswersForAWaitingJob) {
  v1::WhyJobResponse& why = answers().why;
  *why.mutable_job() = QueuedJob();
  why.set_answer("waiting: needs 2 nodes; 1 is free");
  why.mutable_pending()->set_queue_position(3);
  why.mutable_pending()->set_advice("--set resources.nodes=1");
  EXPECT_EQ(Run({"why", "18"}).out,
            "waiting: needs 2 nodes; 1 is free\n  queue position: 3\n"
            "  try: --set resources.nodes=1\n");
  EXPECT_EQ(nlohmann::json::parse(Run({"why", "18", "-o", "json"}).out)["verdict"], nullptr);
}

TEST_F(WhyTest, WhyShowsTheEstimatedStart) {
  v1::WhyJobResponse& why = answers().why;
  *why.mutable_job() = QueuedJob();
  why.set_answer("waiting");
  why.mutable_pending()->set_estimated_earliest_ms(kNow + 300'000);
  why.mutable_pending()->set_estimated_start_ms(kNow + 600'000);
  why.mutable_pending()->set_estimated_latest_ms(kNow + 900'000);
  EXPECT_EQ(Run({"why", "18"}).out, "waiting\n  starts in about 10m00s (5m00s to 15m00s)\n");
}

TEST_F(WhyTest, WhyListsTheOtherReasonsBeforeTheAdvice) {
  v1::PendingReason& pending = *answers().why.mutable_pending();
  *answers().why.mutable_job() = QueuedJob();
  answers().why.set_answer("waiting");
  pending.add_others()->set_message("1 waiting job precedes it");
  pending.add_others()->set_message("needs 2 nodes;\n1 is free");
  pending.set_advice("wait");
  EXPECT_EQ(Run({"why", "18"}).out,
            "waiting\n  also: 1 waiting job precedes it\n  also: needs 2 nodes; 1 is free\n"
            "  try: wait\n");
}

TEST_F(WhyTest, WhyListsThePromisesWithTheirCauses) {
  const auto add = [&](int64_t age_ms, int64_t in_ms, const char* reason) {
    v1::PromiseChange& change = *answers().why.mutable_pending()->add_promises();
    change.set_time_ms(kNow - age_ms);
    if (in_ms != 0) change.set_promised_ms(kNow + in_ms);
    change.set_reason(reason);
  };
  *answers().why.mutable_job() = QueuedJob();
  answers().why.set_answer("waiting");
  add(300'000, -60'000, "is the first of its queue");
  add(120'000, 0, "job 3 (urgent) goes first");
  add(60'000, 600'000, "is the first of its queue again");
  EXPECT_EQ(Run({"why", "18"}).out,
            "waiting\n"
            "  promise 5m00s ago: slots 1m00s ago; is the first of its queue\n"
            "  promise 2m00s ago: no time known; job 3 (urgent) goes first\n"
            "  promise 1m00s ago: slots in 10m00s; is the first of its queue again\n");
}

TEST_F(WhyTest, WhyShowsTheSlowestBlockOfADataJob) {
  v1::Job& job = *answers().why.mutable_job();
  job = RunningJob();
  answers().why.set_answer("running");
  v1::RunningBlock& block = *job.mutable_progress()->mutable_data()->mutable_slowest_block();
  block.set_number(17);
  block.set_seconds(45);
  block.set_rank(1);
  EXPECT_EQ(Run({"why", "17"}).out, "running\n  slowest: block 17 for 45s on rank 1\n");
  job.set_state(v1::JOB_STATE_STOPPED);
  EXPECT_EQ(Run({"why", "17"}).out, "running\n");
}

TEST_F(WhyTest, WhyShowsTheVerdictOfAnEndedJob) {
  v1::WhyJobResponse& why = answers().why;
  *why.mutable_job() = EndedJob(v1::JOB_STATE_FAILED);
  *why.mutable_verdict() = why.job().attempts(0).verdict();
  why.set_answer("failed: rank 1 exited with 70");
  const CliResult result = Run({"why", "17"});
  EXPECT_THAT(result.out, HasSubstr("failed: rank 1 exited with 70\n"));
  EXPECT_THAT(result.out, HasSubstr("Last output:\n    first\n"));
  EXPECT_THAT(result.out, HasSubstr("Retry"));
}

TEST_F(WhyTest, WhyGivesNoAdviceToASuccess) {
  v1::WhyJobResponse& why = answers().why;
  *why.mutable_job() = EndedJob(v1::JOB_STATE_SUCCEEDED);
  why.mutable_verdict()->set_cause(v1::VERDICT_CAUSE_COMPLETED);
  why.set_answer("succeeded: all 2 ranks exited with 0");
  EXPECT_THAT(Run({"why", "17"}).out, Not(HasSubstr("Retry")));
}

}  // namespace
}  // namespace trainyard::cli
