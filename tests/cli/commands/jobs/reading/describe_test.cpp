// Tests `describe`.
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

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
        "  At fault    rank 1 on node-2\n", "    Traceback: \\u001b[31mboom\n", "3.0 MiB",
        "resources.nodes", "job.yaml:2\n", "\nNon-default settings",
        "  2026-11-21T11:56:48.000Z  user ada: submitted\n"}) {
    EXPECT_THAT(result.out, HasSubstr(text));
  }
  EXPECT_THAT(result.out, Not(HasSubstr("\033")));
}

TEST_F(DescribeTest, ShowsTheDataSets) {
  EXPECT_THAT(Run({"describe", "tiny"}).out, Not(HasSubstr("Data sets")));
  v1::ReportedDataSet& set = *answers().data_report.add_data_sets();
  set.set_path("/shared/tokens");
  set.set_xxh64("00000000000000aa");
  set.set_tokens(1500);
  set.set_is_input(true);
  v1::DataSetJob& maker = *set.add_jobs();
  maker.set_job_id(12);
  maker.set_name("corpus");
  EXPECT_THAT(Run({"describe", "tiny"}).out,
              ContainsRegex("\nData sets\n  DATA SET +TOKENS +CHECKSUM +MADE BY\n"
                            "  /shared/tokens +1[^ ]*k +00000000000000aa +job 12 corpus\n"));
  EXPECT_TRUE(answers().data_report_requests.back().without_report());
  // A program of a command reports no data sets.
  answers().job.mutable_job()->mutable_spec()->add_command("python3");
  EXPECT_THAT(Run({"describe", "tiny"}).out, Not(HasSubstr("Data sets")));
}

TEST_F(DescribeTest, ShowsTheLineage) {
  EXPECT_THAT(Run({"describe", "tiny"}).out, Not(HasSubstr("Children")));
  EXPECT_TRUE(answers().lineage_requests.empty()) << "older controllers do not know this call";
  v1::Job& job = *answers().job.mutable_job();
  job.mutable_resumed_from()->set_job_id(12);
  job.mutable_resumed_from()->set_step(4000);
  job.set_cloned_from(9);
  for (const int64_t child : {18, 20}) job.add_children(child);
  const auto set = [](v1::LineageJob& one, int64_t id, int64_t parent, const std::string& name) {
    one.set_job_id(id);
    one.set_parent_id(parent);
    one.set_name(name);
    one.set_state(v1::JOB_STATE_SUCCEEDED);
  };
  v1::GetLineageResponse& lineage = answers().lineage;
  set(*lineage.mutable_job(), 17, 12, "tiny");
  lineage.mutable_job()->set_resumed(true);
  lineage.mutable_job()->set_step(4000);
  set(*lineage.add_ancestors(), 12, 0, "");
  set(*lineage.add_descendants(), 18, 17, "longer");
  set(*lineage.add_descendants(), 20, 18, "longest");
  const std::string out = Run({"describe", "tiny"}).out;
  for (const char* text :
       {"  Resumed     from job 12, step 4000\n", "  Cloned      from job 9\n",
        "  Children    jobs 18, 20\n", "\nLineage\n  job 12 (deleted)\n",
        "\n    job 17 tiny succeeded, resumed from step 4000  <- this job\n",
        "\n      job 18 longer succeeded, cloned\n        job 20 longest succeeded, cloned\n"}) {
    EXPECT_THAT(out, HasSubstr(text));
  }
  lineage.clear_descendants();
  EXPECT_THAT(Run({"describe", "tiny"}).out, Not(HasSubstr("\nLineage\n"))) << "two generations";
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
  pending.set_advice("to let the job start, run `trainyard node uncordon node-2`");
  const std::string out = Run({"describe", "waits"}).out;
  EXPECT_THAT(out, HasSubstr("  Reason      needs 2 nodes; node-2 is cordoned: bad fan"));
  EXPECT_THAT(
      out, HasSubstr("  Try         to let the job start, run `trainyard node uncordon node-2`"));
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
  EXPECT_THAT(Run({"describe", "tiny"}).out,
              HasSubstr("node node-2 confirmed that attempt 1 has ended there\n"));
}

TEST_F(DescribeTest, EventsNameTheStepThatAnAttemptStartsFrom) {
  v1::JobPlaced& placed = *answers().job.add_events()->mutable_job_placed();
  placed.set_attempt(1);
  EXPECT_THAT(Run({"describe", "tiny"}).out, HasSubstr(", fresh start\n"));
  placed.set_resume_from("/theirs/base");
  EXPECT_THAT(Run({"describe", "tiny"}).out, HasSubstr(", from the checkpoint /theirs/base\n"));
  placed.set_resume_step(4000);
  v1::AttemptRunning& running = *answers().job.add_events()->mutable_attempt_running();
  running.set_attempt(2);
  running.set_resume_step(4000);
  v1::LearningRateChanged& changed = *answers().job.add_events()->mutable_learning_rate_changed();
  changed.mutable_change()->set_step(4000);
  changed.mutable_change()->set_before(3e-4);
  changed.mutable_change()->set_after(1.2e-4);
  const std::string out = Run({"describe", "tiny"}).out;
  EXPECT_THAT(out, HasSubstr(", from step 4000\n"));
  EXPECT_THAT(out, HasSubstr("attempt 2 is running from step 4000\n"));
  EXPECT_THAT(out, HasSubstr("learning rate changed at the resume from step 4000: 3.00e-4 before, "
                             "1.20e-4 after\n"));
}

TEST_F(DescribeTest, AttemptsShowTheStepOfTheirFirstReport) {
  v1::Attempt& attempt = *answers().job.mutable_job()->mutable_attempts(0);
  attempt.set_resume_step(1230000);
  EXPECT_THAT(Run({"describe", "tiny"}).out, HasSubstr("1230000"));
  attempt.set_first_step(4560001);
  const std::string out = Run({"describe", "tiny"}).out;
  EXPECT_THAT(out, HasSubstr("4560000"));
  EXPECT_THAT(out, Not(HasSubstr("1230000")));
}

TEST_F(DescribeTest, EvaluationSetsOfAnyNameAreShown) {
  v1::EvaluatedLoss& evaluated =
      *answers().job.mutable_job()->mutable_progress()->add_evaluations();
  evaluated.set_data_set("code");
  evaluated.set_loss(1.08);
  EXPECT_THAT(Run({"describe", "tiny"}).out, HasSubstr("  Evaluation  code 1.0800\n"));
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
  EXPECT_THAT(
      old.err,
      HasSubstr("attempt 20 of job 17 is no longer stored; the oldest stored attempt is 51"));
  EXPECT_THAT(Run({"describe", "tiny@151"}).err,
              HasSubstr("job 17 has no attempt 151; the newest attempt is 150"));
  job.clear_attempts();
  EXPECT_THAT(Run({"describe", "tiny@1"}).err,
              HasSubstr("job 17 has no attempt 1; the job has no attempts"));
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

TEST_F(DescribeTest, StatesGpuHoursAndTheirCostIfThereIsAPrice) {
  EXPECT_THAT(Run({"describe", "17"}).out, Not(HasSubstr("GPU hours")));
  v1::Ledger& ledger = *answers().job.mutable_ledger();
  ledger.set_gpu_seconds(444'240);
  const std::string unpriced = Run({"describe", "17"}).out;
  EXPECT_THAT(unpriced, HasSubstr("GPU hours   123.4\n"));
  EXPECT_THAT(unpriced, Not(HasSubstr("Cost")));
  ledger.mutable_cost()->set_amount(259.14);
  ledger.mutable_cost()->set_gpu_hour_price(2.1);
  EXPECT_THAT(Run({"describe", "17"}).out, HasSubstr("Cost        259.14 at 2.1 per GPU-hour\n"));
  ledger.mutable_cost()->set_currency("USD");
  EXPECT_THAT(Run({"describe", "17"}).out,
              HasSubstr("Cost        259.14 USD at 2.1 USD per GPU-hour\n"));
}

TEST_F(DescribeTest, TellsWhatTheLossGuardDid) {
  v1::Job& job = *answers().job.mutable_job();
  job.mutable_spec()->mutable_guard()->set_max_rollbacks(5);
  v1::Rollback& rollback = *job.add_rollbacks();
  rollback.set_step(238);
  rollback.set_to_step(200);
  rollback.set_reason("the loss is not finite");
  rollback.set_skip_samples("1896:1904");
  const std::string out = Run({"describe", "17"}).out;
  EXPECT_THAT(out, HasSubstr("1 of 5 used"));
  EXPECT_THAT(out,
              HasSubstr("from step 238 to 200 (the loss is not finite), skips samples 1896:1904"));
}

}  // namespace
}  // namespace trainyard::cli
