// ps, describe, why and ckpt list.
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

v1::Job QueuedJob() {
  v1::Job job = RunningJob();
  job.set_id(18);
  job.set_name("waits");
  job.set_state(v1::JOB_STATE_QUEUED);
  job.clear_attempts();
  job.clear_progress();
  job.set_submitted_time_ms(kNow - 5000);
  return job;
}

v1::ListJobsResponse TwoJobs() {
  v1::ListJobsResponse page;
  *page.add_jobs() = QueuedJob();
  *page.add_jobs() = RunningJob();
  (*page.mutable_pending())[18].set_message("needs 2 nodes with 1 free slot; 1 is free");
  return page;
}

class JobsTest : public CliFixture {};

TEST_F(JobsTest, PsPrintsATable) {
  answers().pages.push_back(TwoJobs());
  const CliResult result = Run({"ps"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out,
            "ID  NAME   STATE       STEP    LOSS  TOK/S    ETA    AGE  REASON\n"
            "18  waits  queued         -       -      -      -     5s  needs 2 nodes with 1 free "
            "slot; 1 is free\n"
            "17  tiny   running  120/300  3.2012  5.23k  1m12s  3m12s\n");
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_F(JobsTest, PsAsksForLiveJobsUnlessToldOtherwise) {
  answers().pages.push_back({});
  Run({"ps"});
  Run({"ps", "-a", "-u", "bob"});
  Run({"ps", "--state", "failed"});
  ASSERT_EQ(answers().list_requests.size(), 3u);
  EXPECT_THAT(answers().list_requests[0].states(),
              ElementsAre(v1::JOB_STATE_QUEUED, v1::JOB_STATE_STARTING, v1::JOB_STATE_RUNNING,
                          v1::JOB_STATE_RECOVERING, v1::JOB_STATE_STOPPING, v1::JOB_STATE_PAUSING,
                          v1::JOB_STATE_PAUSED, v1::JOB_STATE_HELD));
  EXPECT_THAT(answers().list_requests[1].states(), IsEmpty());
  EXPECT_EQ(answers().list_requests[1].user(), "bob");
  EXPECT_THAT(answers().list_requests[2].states(), ElementsAre(v1::JOB_STATE_FAILED));
}

TEST_F(JobsTest, PsIsCutToTheTerminalButNeverInAPipe) {
  answers().pages.push_back(TwoJobs());
  environment_.console.width = 60;
  EXPECT_THAT(Run({"ps"}).out, HasSubstr("1 is free\n"));
  environment_.console.out_is_tty = true;
  const std::string cut = Run({"ps"}).out;
  EXPECT_THAT(cut, HasSubstr("…\n"));
  EXPECT_THAT(cut, Not(HasSubstr("1 is free")));
  EXPECT_THAT(Run({"ps", "-o", "json"}).out, HasSubstr("1 is free"));
}

TEST_F(JobsTest, TheReasonSurvives80Columns) {
  v1::ListJobsResponse page = TwoJobs();
  for (v1::Job& job : *page.mutable_jobs()) job.set_name("a-name-that-takes-its-place");
  (*page.mutable_pending())[18].set_message("node-2 is cordoned: bad fan (user ada); and more");
  answers().pages.push_back(page);
  environment_.console.width = 80;
  environment_.console.out_is_tty = true;
  const std::string out = Run({"ps"}).out;
  EXPECT_THAT(out, HasSubstr("node-2 is cordoned: bad"));
  EXPECT_THAT(out, HasSubstr("120/300"));
}

TEST_F(JobsTest, AJobThatStoppedReportingHasNoRateAndNoEta) {
  v1::ListJobsResponse page;
  *page.add_jobs() = RunningJob();
  page.mutable_jobs(0)->mutable_progress()->set_time_ms(kNow - 600000);
  answers().pages.push_back(page);
  EXPECT_EQ(Run({"ps"}).out,
            "ID  NAME  STATE       STEP    LOSS  TOK/S  ETA    AGE  REASON\n"
            "17  tiny  running  120/300  3.2012      -    -  3m12s\n");
  EXPECT_THAT(Run({"ps", "-o", "csv"}).out, HasSubstr("\n17,tiny,ada,running,120,3.20125,,,2x1,"));
  const nlohmann::json job = nlohmann::json::parse(Run({"ps", "-o", "json"}).out)[0];
  EXPECT_EQ(job["progress"]["tokens_per_second"], nullptr);
  EXPECT_EQ(job["progress"]["eta_seconds"], nullptr);
  EXPECT_EQ(job["progress"]["step"], 120);
}

TEST_F(JobsTest, TheControllersClockDecidesWhatIsOld) {
  v1::ListJobsResponse page;
  *page.add_jobs() = RunningJob();
  page.set_as_of_ms(kNow);
  answers().pages.push_back(page);
  clock_.now = kNow + 600000;  // Of this machine: ten minutes ahead.
  EXPECT_THAT(Run({"ps"}).out, HasSubstr("5.23k  1m12s  3m12s"));
}

TEST_F(JobsTest, AProgramThatReportsOnlyStepsHasNoLossOfZero) {
  v1::ListJobsResponse page;
  *page.add_jobs() = RunningJob();
  page.mutable_jobs(0)->clear_progress();
  page.mutable_jobs(0)->mutable_progress()->set_step(7);
  page.mutable_jobs(0)->mutable_progress()->set_time_ms(kNow);
  answers().pages.push_back(page);
  EXPECT_EQ(Run({"ps"}).out,
            "ID  NAME  STATE    STEP  LOSS  TOK/S  ETA    AGE  REASON\n"
            "17  tiny  running     7     -      -    -  3m12s\n");
}

TEST_F(JobsTest, PsJsonHasStableKeysAndIsoTimes) {
  answers().pages.push_back(TwoJobs());
  const nlohmann::json jobs = nlohmann::json::parse(Run({"ps", "-o", "json"}).out);
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[1]["submitted_time"], "2026-11-21T11:56:48.000Z");
  EXPECT_EQ(jobs[1]["ended_time"], nullptr);
  EXPECT_EQ(jobs[1]["pending"], nullptr);
  EXPECT_EQ(jobs[0]["progress"], nullptr);
  EXPECT_EQ(jobs[0]["attempts"], nlohmann::json::array());
  EXPECT_EQ(jobs[0]["pending"]["queue_position"], nullptr);
  std::vector<std::string> first, second;
  for (const auto& [key, value] : jobs[0].items()) first.push_back(key);
  for (const auto& [key, value] : jobs[1].items()) second.push_back(key);
  EXPECT_EQ(first, second);
}

TEST_F(JobsTest, PsOtherFormats) {
  answers().pages.push_back(TwoJobs());
  EXPECT_EQ(Run({"ps", "-o", "name"}).out, "18\n17\n");
  EXPECT_THAT(Run({"ps", "-o", "wide"}).out, HasSubstr("USER"));
  EXPECT_THAT(Run({"ps", "-o", "csv"}).out,
              HasSubstr("\n17,tiny,ada,running,120,3.20125,5234.0,72.0,2x1,2,192,"
                        "2026-11-21T11:56:48.000Z,\n"));
  EXPECT_THAT(Run({"ps", "-o", "yaml"}).out, HasSubstr("name: \"tiny\"\n"));
}

TEST_F(JobsTest, PsFollowsTheCursorUpToTheLimit) {
  v1::ListJobsResponse first = TwoJobs();
  first.set_next_cursor("c1");
  v1::ListJobsResponse second;
  *second.add_jobs() = RunningJob();
  second.set_next_cursor("c2");
  answers().pages = {first, second};
  const CliResult result = Run({"ps", "-o", "name", "--limit", "3"});
  EXPECT_EQ(result.out, "18\n17\n17\n");
  EXPECT_THAT(result.err, HasSubstr("only the newest 3"));
  ASSERT_EQ(answers().list_requests.size(), 2u);
  EXPECT_EQ(answers().list_requests[1].cursor(), "c1");
  EXPECT_EQ(answers().list_requests[1].limit(), 1);
}

TEST_F(JobsTest, PsEndsWhenAServerSendsEmptyPagesForEver) {
  v1::ListJobsResponse page;
  page.set_next_cursor("again");
  answers().pages.push_back(page);
  EXPECT_EQ(Run({"ps"}).exit_code, 0);
  EXPECT_EQ(answers().list_requests.size(), 1u);
}

TEST_F(JobsTest, AnEmptyListWithAFilterSaysThatNothingMatches) {
  answers().pages.push_back({});
  EXPECT_EQ(Run({"ps", "--state", "failed"}).err, "no job matches\n");
  EXPECT_EQ(Run({"ps", "-a", "-u", "zed"}).err, "no job matches\n");
  EXPECT_EQ(Run({"ps", "-u", "zed"}).err,
            "no job matches; -a also looks at those that have ended\n");
}

TEST_F(JobsTest, AnEmptyListSaysWhatToDo) {
  answers().pages.push_back({});
  EXPECT_THAT(Run({"ps"}).err, HasSubstr("`trainyard ps -a`"));
  EXPECT_THAT(Run({"ps", "-a"}).err, HasSubstr("trainyard submit"));
  EXPECT_EQ(Run({"ps", "-o", "json"}).out, "[]\n");
  EXPECT_THAT(Run({"ps", "-o", "json"}).err, IsEmpty());
}

class DescribeTest : public CliFixture {
 protected:
  DescribeTest() {
    v1::GetJobResponse& response = answers().job;
    *response.mutable_job() = EndedJob(v1::JOB_STATE_FAILED);
    v1::Checkpoint& checkpoint = *response.mutable_job()->add_checkpoints();
    checkpoint.set_step(100);
    checkpoint.set_attempt(1);
    checkpoint.set_path("/c/step_000000100");
    checkpoint.set_bytes(3 << 20);
    checkpoint.set_time_ms(kNow - 120000);
    v1::Checkpoint& deleted = *response.mutable_job()->add_deleted_checkpoints();
    deleted = checkpoint;
    deleted.set_deleted(true);
    deleted.set_step(50);
    (*response.mutable_node_names())["id-b"] = "node-2";
    v1::Event& event = *response.add_events();
    event.set_time_ms(kNow - 192000);
    event.set_actor("user ada");
    event.mutable_job_submitted()->set_job_id(17);
  }
};

TEST_F(DescribeTest, ShowsEverySection) {
  const CliResult result = Run({"describe", "tiny"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(answers().get_requests[0].job(), "tiny");
  for (const char* text :
       {"Job 17  tiny\n", "  State       failed\n", "2026-11-21T11:56:48.000Z (3m12s ago)",
        "  Slots       2 nodes x 1 cpu\n", "  Restarts    1 of 5 used\n",
        "  Last speed  5.23k tokens/s, 0.4 s a step\n", "  id-a: rank 0\n  node-2: rank 1\n",
        "  Culprit     rank 1 on node-2\n", "    Traceback: \\u001b[31mboom\n", "3.0 MiB",
        "resources.nodes", "job.yaml:2\n", "\nSettings other than defaults",
        "  2026-11-21T11:56:48.000Z  user ada: submitted\n"}) {
    EXPECT_THAT(result.out, HasSubstr(text));
  }
  EXPECT_THAT(result.out, Not(HasSubstr("\033")));
}

TEST_F(DescribeTest, ARunningJobHasASpeedAndAnEta) {
  *answers().job.mutable_job() = RunningJob();
  const std::string fresh = Run({"describe", "tiny"}).out;
  EXPECT_THAT(fresh, HasSubstr("  Speed       5.23k tokens/s, 0.4 s a step\n"));
  EXPECT_THAT(fresh, HasSubstr("  ETA         1m12s\n"));
  clock_.now += 600000;
  const std::string old = Run({"describe", "tiny"}).out;
  EXPECT_THAT(old, HasSubstr("  Last speed  5.23k tokens/s"));
  EXPECT_THAT(old, Not(HasSubstr("ETA")));
  const auto document = nlohmann::json::parse(Run({"describe", "tiny", "-o", "json"}).out);
  EXPECT_EQ(document["job"]["progress"]["eta_seconds"], nullptr);
}

TEST_F(DescribeTest, AFreshStartHasNoStepToStartFrom) {
  v1::Attempt& attempt = *answers().job.mutable_job()->mutable_attempts(0);
  attempt.clear_resume_step();
  attempt.clear_last_step();
  attempt.clear_verdict();
  EXPECT_THAT(Run({"describe", "tiny"}).out,
              HasSubstr("        2  ended      2          -          -  1m40s\n"));
}

TEST_F(DescribeTest, AWaitingJobSaysWhyAndWhatToDo) {
  *answers().job.mutable_job() = QueuedJob();
  v1::PendingReason& pending = *answers().job.mutable_pending();
  pending.set_code(v1::PENDING_CODE_RESOURCES);
  pending.set_message("needs 2 nodes; node-2 is cordoned: bad fan (user ada)");
  pending.set_advice("`trainyard node uncordon node-2` would let it start");
  const std::string out = Run({"describe", "waits"}).out;
  EXPECT_THAT(out, HasSubstr("  Reason      needs 2 nodes; node-2 is cordoned: bad fan"));
  EXPECT_THAT(out, HasSubstr("  Try         `trainyard node uncordon node-2`"));
}

TEST_F(DescribeTest, DefaultsAreShownOnlyWhenAskedFor) {
  v1::Origin& origin = *answers().job.mutable_job()->add_origins();
  origin.set_key("resources.device");
  origin.set_source("default");
  EXPECT_THAT(Run({"describe", "tiny"}).out, Not(HasSubstr("resources.device")));
  EXPECT_THAT(Run({"describe", "tiny", "-o", "wide"}).out, HasSubstr("resources.device"));
}

TEST_F(DescribeTest, AReasonComesWithTheNextStep) {
  EXPECT_THAT(Run({"describe", "tiny"}).out, Not(HasSubstr("  Reason")));
  v1::PendingReason& pending = *answers().job.mutable_pending();
  pending.set_code(v1::PENDING_CODE_NO_METRICS);
  pending.set_message("log_parser megatron has found no step");
  pending.set_advice("set log_parser.rank");
  EXPECT_THAT(Run({"describe", "tiny"}).out,
              HasSubstr("  Reason      log_parser megatron has found no step\n"
                        "  Try         set log_parser.rank\n"));
}

TEST_F(DescribeTest, EventsNameNodes) {
  v1::Event& event = *answers().job.add_events();
  event.mutable_attempt_cleared()->set_attempt(1);
  event.mutable_attempt_cleared()->set_node_id("id-b");
  EXPECT_THAT(Run({"describe", "tiny"}).out, HasSubstr("attempt 1 has left node node-2\n"));
}

TEST_F(DescribeTest, AnUnknownAttemptIsNotFound) {
  EXPECT_EQ(Run({"describe", "tiny@2"}).exit_code, 0);
  const CliResult result = Run({"describe", "tiny@9"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("no attempt 9"));
}

TEST_F(DescribeTest, AnOldAttemptIsNoLongerKept) {
  v1::Job& job = *answers().job.mutable_job();
  job.clear_attempts();
  for (int number = 51; number <= 150; ++number) job.add_attempts()->set_number(number);
  const CliResult old = Run({"describe", "tiny@20"});
  EXPECT_EQ(old.exit_code, 3);
  EXPECT_THAT(old.err, HasSubstr("attempt 20 of job 17 is no longer kept; the oldest kept is 51"));
  EXPECT_THAT(Run({"describe", "tiny@151"}).err,
              HasSubstr("job 17 has no attempt 151; its newest is 150"));
  job.clear_attempts();
  EXPECT_THAT(Run({"describe", "tiny@1"}).err,
              HasSubstr("job 17 has no attempt 1; it has had none"));
}

TEST_F(DescribeTest, OtherFormats) {
  const nlohmann::json document = nlohmann::json::parse(Run({"describe", "17", "-o", "json"}).out);
  EXPECT_EQ(document["job"]["attempts"][0]["verdict"]["cause"], "rank_exited");
  EXPECT_EQ(document["job"]["checkpoints"][0]["deleted"], false);
  EXPECT_EQ(document["events"][0]["time"], "2026-11-21T11:56:48.000Z");
  EXPECT_EQ(document["node_names"]["id-b"], "node-2");
  EXPECT_EQ(Run({"describe", "17", "-o", "name"}).out, "17\n");
  EXPECT_THAT(Run({"describe", "17", "-o", "csv"}).out, HasSubstr("job.attempts[0].number,2\n"));
}

TEST_F(DescribeTest, CheckpointListHidesDeletedOnes) {
  EXPECT_EQ(Run({"ckpt", "list", "17"}).out,
            "STEP  ATTEMPT     SIZE    AGE  STATE      METRIC  PATH\n"
            " 100        1  3.0 MiB  2m00s  published  -       /c/step_000000100\n");
  EXPECT_THAT(Run({"ckpt", "list", "17", "-a"}).out,
              HasSubstr("  50        1  3.0 MiB  2m00s  deleted"));
  EXPECT_THAT(Run({"ckpt", "list", "17", "-o", "csv"}).out,
              HasSubstr("\n100,1,3145728,120,published,-,/c/step_000000100\n"));
  EXPECT_EQ(Run({"ckpt", "list", "17", "-o", "name"}).out, "/c/step_000000100\n");
}

// The lowest one that can still be used; an earlier metric is not compared with the newest one's.
TEST_F(DescribeTest, MarksTheBestCheckpoint) {
  v1::Job& job = *answers().job.mutable_job();
  const auto add = [&](int64_t step, const char* metric, double value) -> v1::Checkpoint& {
    v1::Checkpoint& checkpoint = *job.add_checkpoints();
    checkpoint.set_step(step);
    checkpoint.set_metric(metric);
    checkpoint.set_metric_value(value);
    return checkpoint;
  };
  add(110, "code_loss", 0.5);
  add(120, "val_loss", 2.5);
  add(130, "val_loss", 2.5);
  add(140, "val_loss", 2.0).set_damaged(true);
  const std::string out = Run({"ckpt", "list", "17"}).out;
  EXPECT_THAT(out, HasSubstr("published  val_loss 2.5000 (best)"));
  EXPECT_EQ(out.find("(best)"), out.rfind("(best)"));
  EXPECT_LT(out.find(" 120  "), out.find("(best)"));
  EXPECT_LT(out.find("(best)"), out.find(" 130  "));
  EXPECT_THAT(Run({"describe", "17"}).out, HasSubstr("val_loss 2.5000 (best)"));
}

TEST_F(DescribeTest, TellsWhatTheLossGuardDid) {
  v1::Job& job = *answers().job.mutable_job();
  job.mutable_spec()->mutable_guard()->set_max_rollbacks(5);
  v1::Rollback& rollback = *job.add_rollbacks();
  rollback.set_step(238);
  rollback.set_to_step(200);
  rollback.set_reason("the loss is nan");
  rollback.set_skip_samples("1896:1904");
  const std::string out = Run({"describe", "17"}).out;
  EXPECT_THAT(out, HasSubstr("1 of 5 used"));
  EXPECT_THAT(out, HasSubstr("from step 238 to 200 (the loss is nan), skips samples 1896:1904"));
}

TEST_F(DescribeTest, TheControllersClockDecidesTheAgeOfACheckpoint) {
  answers().job.set_as_of_ms(kNow);
  clock_.now = kNow + 600000;  // Of this machine: ten minutes ahead.
  EXPECT_THAT(Run({"ckpt", "list", "17"}).out, HasSubstr("  2m00s  published"));
}

TEST_F(JobsTest, ReportJudgesTheLossCurve) {
  v1::GetLossReportResponse& report = answers().loss;
  report.set_losses(150);
  report.set_losses_needed(200);
  EXPECT_THAT(Run({"report", "17"}).err,
              HasSubstr("has reported 150 losses; the report needs 200"));
  report.mutable_curve()->set_improvement_rate(0.25);
  report.mutable_curve()->set_spike_count(1);
  report.mutable_curve()->add_spike_steps(251);
  EXPECT_THAT(Run({"report", "17"}).out, HasSubstr("Stagnant    no"));
  const auto document = nlohmann::json::parse(Run({"report", "17", "-o", "json"}).out);
  EXPECT_EQ(document["improvement_rate"], 0.25);
  EXPECT_EQ(document["is_stagnant"], false);
  EXPECT_EQ(document["spike_count"], 1);
  EXPECT_EQ(document["spike_steps"], nlohmann::json::array({251}));
}

TEST_F(JobsTest, WhyAnswersForAWaitingJob) {
  v1::WhyJobResponse& why = answers().why;
  *why.mutable_job() = QueuedJob();
  why.set_answer("waiting: needs 2 nodes; 1 is free");
  why.mutable_pending()->set_queue_position(3);
  why.mutable_pending()->set_advice("--set resources.nodes=1");
  EXPECT_EQ(Run({"why", "18"}).out,
            "waiting: needs 2 nodes; 1 is free\n  place in the queue: 3\n"
            "  try: --set resources.nodes=1\n");
  EXPECT_EQ(nlohmann::json::parse(Run({"why", "18", "-o", "json"}).out)["verdict"], nullptr);
}

TEST_F(JobsTest, WhyShowsTheVerdictOfAnEndedJob) {
  v1::WhyJobResponse& why = answers().why;
  *why.mutable_job() = EndedJob(v1::JOB_STATE_FAILED);
  *why.mutable_verdict() = why.job().attempts(0).verdict();
  why.set_answer("failed: rank 1 exited with 70");
  const CliResult result = Run({"why", "17"});
  EXPECT_THAT(result.out, HasSubstr("failed: rank 1 exited with 70\n"));
  EXPECT_THAT(result.out, HasSubstr("Its last lines:\n    first\n"));
  EXPECT_THAT(result.out, HasSubstr("Retry"));
}

TEST_F(JobsTest, WhyGivesNoAdviceToASuccess) {
  v1::WhyJobResponse& why = answers().why;
  *why.mutable_job() = EndedJob(v1::JOB_STATE_SUCCEEDED);
  why.mutable_verdict()->set_cause(v1::VERDICT_CAUSE_COMPLETED);
  why.set_answer("succeeded: all 2 ranks ended with 0");
  EXPECT_THAT(Run({"why", "17"}).out, testing::Not(HasSubstr("Retry")));
}

}  // namespace
}  // namespace trainyard::cli
