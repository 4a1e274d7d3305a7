// Tests, with the real programs, jobs that do not use our trainer and jobs that must be rejected.
#include <filesystem>
#include <map>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using testing::HasSubstr;

void WriteSecret(const std::string& directory, const std::string& name, const std::string& value) {
  std::filesystem::create_directories(directory);
  const std::filesystem::path path = std::filesystem::path(directory) / name;
  WriteFile(path, value + "\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
}

std::string AllFilesBelow(const std::string& directory) {
  std::string text;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) text += ReadFile(entry.path());
  }
  return text;
}

TEST(JobsTest, AnyProgramWithTelemetryIsAJob) {
  MiniCluster cluster(1);
  WriteFile(cluster.directory() + "/train.py", R"(import json, os, time
with open(os.environ["TRAINYARD_TELEMETRY"], "a") as out:
    for step in range(1, 51):
        print(json.dumps({"type": "metrics", "time_ms": int(time.time() * 1000), "step": step,
                          "total_steps": 50, "loss": 5.0 / step}), file=out, flush=True)
print("world", os.environ["WORLD_SIZE"], "rank", os.environ["RANK"], flush=True)
)");
  const int64_t job_id = cluster.Submit(
      cluster.WriteJob("py", absl::StrCat("name: py\nresources: {device: cpu}\ntorchrun_env: true\n"
                                          "command: [/usr/bin/python3, ",
                                          cluster.directory(), "/train.py]\n")));
  const v1::Job job = cluster.WaitForEnd(job_id, Seconds(60));
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  const auto loss = cluster.Series(job_id, "loss");
  ASSERT_EQ(loss.size(), 50u);
  EXPECT_DOUBLE_EQ(loss.at(50), 0.1);
  ASSERT_EQ(cluster.Logs(job_id, 0, 1).size(), 1u);
  EXPECT_EQ(cluster.Logs(job_id, 0, 1)[0].text(), "world 1 rank 0");
}

TEST(JobsTest, TokensTrainToTheirEndAlsoInPlaceOfARecipesSteps) {
  MiniCluster cluster(1);
  const std::string settings = absl::StrCat(
      "resources: {nodes: 1}\nlayout: {micro_batch: 2}\n"
      "model: {num_layers: 1, hidden_size: 24, ffn_hidden_size: 24}\ndata: {path: ",
      cluster.MakeTokens(),
      "}\nschedule: {warmup_steps: 1}\nevaluation: {every_steps: 0}\n"
      "train: {tokens: 1K, seq_length: 32, global_batch: 4}\n");
  const int64_t job_id = cluster.Submit(
      cluster.WriteJob("counted", "name: counted\nextends: llama-tiny-cpu\n" + settings));
  const v1::Job job = cluster.WaitForEnd(job_id, Seconds(60));
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  EXPECT_EQ(job.spec().train().tokens(), 1000);
  EXPECT_EQ(job.spec().train().steps(), 8) << "of 128 tokens each, rounded up";
  EXPECT_EQ(cluster.Series(job_id, "loss").rbegin()->first, 8);
}

// An evaluation-only job reports its losses at the step of the checkpoint, and succeeds.
TEST(JobsTest, EvaluatesACheckpointOfAnotherJob) {
  MiniCluster cluster(1);
  const std::string tokens = cluster.MakeTokens();
  const std::string file = cluster.WriteJob("trained", TinyJob("trained", tokens, 1, 50));
  const int64_t trained = cluster.Submit(file);
  ASSERT_EQ(cluster.WaitForEnd(trained, Seconds(60)).state(), v1::JOB_STATE_SUCCEEDED);
  const auto refused = cluster.Cli({"submit", file, "--set", "evaluation.only=true"});
  EXPECT_EQ(refused.exit_code, 2) << refused.error;
  EXPECT_THAT(refused.error, HasSubstr("`evaluation.only` needs weights"));

  const v1::Checkpoint checkpoint = *cluster.Job(trained).checkpoints().rbegin();
  EXPECT_EQ(checkpoint.metric(), "val_loss");
  const int64_t evaluated =
      cluster.Submit(file, {"--set", "name=evaluated", "--set", "evaluation.only=true", "--set",
                            "checkpoint.resume_from=" + checkpoint.path()});
  const v1::Job job = cluster.WaitForEnd(evaluated, Seconds(60));
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  EXPECT_EQ(job.attempts_size(), 1);
  EXPECT_EQ(job.checkpoints_size(), 0);
  EXPECT_TRUE(cluster.Series(evaluated, "loss").empty());
  const auto losses = cluster.Series(evaluated, "val_loss");
  EXPECT_EQ(losses, (std::map<int64_t, double>{{50, checkpoint.metric_value()}}));
  EXPECT_EQ(cluster.Series(evaluated, "val_perplexity").size(), 1u);
}

TEST(JobsTest, SubmitRefusesWhatTheTrainerCannotStart) {
  MiniCluster cluster(2);
  const std::string file = cluster.WriteJob(
      "parallel", TinyJob("parallel", cluster.MakeTokens(), 2, 10) + "layout: {ep: 2}\n");
  const auto submitted = cluster.Cli({"submit", file, "--set", "data.path="});
  EXPECT_EQ(submitted.exit_code, 2) << submitted.error;
  EXPECT_THAT(submitted.error, HasSubstr("`layout.ep` (2) needs `model.num_experts`"));
  EXPECT_THAT(submitted.error, HasSubstr("`data.path` is missing"));
  CommandResult planned;
  // Both nodes must have read the nonce of the checkpoint root before this can succeed.
  EXPECT_TRUE(Eventually([&] {
    planned = cluster.Cli({"plan", file, "--set", "data.path="});
    return planned.output.find("starts immediately") != std::string::npos;
  })) << planned.output;
  EXPECT_EQ(planned.exit_code, 0) << planned.output;
  EXPECT_THAT(planned.output, HasSubstr("submit would refuse this job"));
}

TEST(JobsTest, LogParserTurnsOutputIntoMetrics) {
  MiniCluster cluster(1);
  WriteFile(
      cluster.directory() + "/nano.py",
      "for i in range(1, 31):\n"
      "    print(f'iter {i}: loss {4.0 - i / 10:.4f}, time 12.50ms, mfu 30.00%', flush=True)\n");
  const int64_t job_id = cluster.Submit(cluster.WriteJob(
      "nano", absl::StrCat("name: nano\nresources: {device: cpu}\nlog_parser: {kind: nanogpt}\n"
                           "command: [/usr/bin/python3, ",
                           cluster.directory(), "/nano.py]\n")));
  const v1::Job job = cluster.WaitForEnd(job_id, Seconds(60));
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  const auto loss = cluster.Series(job_id, "loss");
  ASSERT_EQ(loss.size(), 30u);
  EXPECT_DOUBLE_EQ(loss.rbegin()->second, 1.0);
}

TEST(JobsTest, MegatronIsReadFromItsLastRank) {
  MiniCluster cluster(1, 2);
  WriteFile(cluster.directory() + "/megatron.py", R"(import os
for i in range(1, 11):
    if os.environ["RANK"] == "1":
        print(f" iteration {i}/ 10 | elapsed time per iteration (ms): 5.0 | lm loss: {11 - i}.5 |")
)");
  const int64_t job_id = cluster.Submit(cluster.WriteJob(
      "megatron", absl::StrCat("name: megatron\nresources: {device: cpu, slots_per_node: 2}\n"
                               "log_parser: {kind: megatron}\ncommand: [/usr/bin/python3, ",
                               cluster.directory(), "/megatron.py]\n")));
  const v1::Job job = cluster.WaitForEnd(job_id, Seconds(60));
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  const auto loss = cluster.Series(job_id, "loss");
  ASSERT_EQ(loss.size(), 10u);
  EXPECT_DOUBLE_EQ(loss.at(10), 1.5);
}

TEST(JobsTest, ALogParserGoesOnWhereAKilledWorkerStopped) {
  MiniCluster cluster(1, 2);
  WriteFile(cluster.directory() + "/megatron.py", R"(import os, time
for i in range(1, 61):
    time.sleep(0.1)
    if os.environ["RANK"] == "1":
        print(f" iteration {i}/ 60 | elapsed time per iteration (ms): 100.0 | lm loss: {i}.5 |")
)");
  const int64_t job_id = cluster.Submit(cluster.WriteJob(
      "megatron", absl::StrCat("name: megatron\nresources: {device: cpu, slots_per_node: 2}\n"
                               "log_parser: {kind: megatron}\ncommand: [/usr/bin/python3, ",
                               cluster.directory(), "/megatron.py]\n")));
  ASSERT_TRUE(cluster.WaitForStep(job_id, 5));
  cluster.KillWorker(0);
  cluster.StartWorker(0);
  ASSERT_EQ(cluster.WaitForEnd(job_id).state(), v1::JOB_STATE_SUCCEEDED);
  const v1::Series loss = cluster.RawSeries(job_id, "loss", 1);
  ASSERT_EQ(loss.steps_size(), 60);
  for (int i = 0; i < 60; ++i) {
    EXPECT_EQ(loss.steps(i), i + 1);
    EXPECT_EQ(loss.counts(i), 1) << "a line was read twice";
  }
}

TEST(JobsTest, AProgramOfOneRankIsNotToldOfPeers) {
  MiniCluster cluster(1);
  const std::string file =
      cluster.WriteJob("env",
                       "name: env\nresources: {device: cpu}\nenv: {COLOR: red, HOME: null}\n"
                       "command: [/bin/sh, -c, 'echo ${RANK-no} ${MASTER_PORT-no} ${HOME-no} "
                       "$COLOR']\n");
  const auto submitted = cluster.Cli({"submit", file, "--wait", "--set", "env.COLOR=blue"});
  EXPECT_EQ(submitted.exit_code, 0) << submitted.output;
  ASSERT_EQ(cluster.Logs(1, 0, 1).size(), 1u);
  EXPECT_EQ(cluster.Logs(1, 0, 1)[0].text(), "no no no blue");
}

TEST(JobsTest, ALogParserThatFindsNothingIsNamed) {
  MiniCluster cluster(1);
  const int64_t job_id = cluster.Submit(
      cluster.WriteJob("mute",
                       "name: mute\nresources: {device: cpu}\nlog_parser: {kind: torchtitan}\n"
                       "command: [/bin/sh, -c, 'seq 1200; exec sleep 600']\n"));
  ASSERT_TRUE(Eventually(
      [&] { return cluster.Described(job_id).pending().code() == v1::PENDING_CODE_NO_METRICS; }));
  for (const char* command : {"why", "describe"}) {
    const std::string text = cluster.Cli({command, "mute"}).output;
    EXPECT_THAT(text, HasSubstr("log_parser torchtitan has found no step")) << command;
    EXPECT_THAT(text, HasSubstr("log_parser.rank")) << command;
  }
  cluster.Cli({"kill", "mute"});
}

TEST(JobsTest, FailureNamesTheRankAndShowsItsLastLines) {
  MiniCluster cluster(1);
  const int64_t job_id = cluster.Submit(cluster.WriteJob(
      "bad",
      "name: bad\nresources: {device: cpu}\nrestart: {max_restarts: 1, backoff: 0}\n"
      "command: [/bin/sh, -c, 'echo the disk is on fire; exit 3']\n"));
  const v1::Job job = cluster.WaitForEnd(job_id, Seconds(60));
  ASSERT_EQ(job.state(), v1::JOB_STATE_FAILED);
  ASSERT_EQ(job.attempts_size(), 2) << "one restart, then the budget is used up";
  EXPECT_EQ(job.attempts(1).verdict().exit_code(), 3);
  EXPECT_THAT(cluster.Cli({"why", "bad"}).output, HasSubstr("exited with code 3"));
  EXPECT_THAT(cluster.Cli({"describe", "bad"}).output, HasSubstr("the disk is on fire"));
  EXPECT_EQ(cluster.Cli({"submit", "--wait", cluster.directory() + "/bad.yaml"}).exit_code, 5);
}

TEST(JobsTest, ProgramThatCannotStartFailsWithTheReason) {
  MiniCluster cluster(1);
  const int64_t job_id = cluster.Submit(
      cluster.WriteJob("none",
                       "name: none\nresources: {device: cpu}\nrestart: {max_restarts: 0}\n"
                       "command: [/no/such/program]\n"));
  const v1::Job job = cluster.WaitForEnd(job_id, Seconds(60));
  ASSERT_EQ(job.state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(job.attempts(0).verdict().cause(), v1::VERDICT_CAUSE_SPAWN_FAILED);
  EXPECT_THAT(job.attempts(0).verdict().summary(), HasSubstr("/no/such/program"));
}

TEST(JobsTest, SecretsReachTheRankAndNothingElse) {
  MiniCluster cluster(1);
  const std::string job_file = cluster.WriteJob(
      "hush",
      "name: hush\nresources: {device: cpu}\nrestart: {max_restarts: 0}\n"
      "secrets: [API_KEY]\ncommand: [/bin/sh, -c, 'echo it has ${#API_KEY} letters']\n");
  const v1::Job without = cluster.WaitForEnd(cluster.Submit(job_file), Seconds(60));
  EXPECT_EQ(without.attempts(0).verdict().cause(), v1::VERDICT_CAUSE_SPAWN_FAILED);
  EXPECT_THAT(without.attempts(0).verdict().summary(), HasSubstr("/secrets/API_KEY"));

  const std::string value = "hush-hush-hush";
  WriteSecret(cluster.directory() + "/worker0/secrets", "API_KEY", value);
  const int64_t job_id = cluster.Submit(job_file);
  const v1::Job job = cluster.WaitForEnd(job_id, Seconds(60));
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  EXPECT_EQ(cluster.Logs(job_id, 0, 1)[0].text(), "it has 14 letters");
  EXPECT_THAT(cluster.Cli({"describe", "hush", "-o", "json"}).output,
              testing::AllOf(HasSubstr("API_KEY"), testing::Not(HasSubstr(value))));
  EXPECT_THAT(cluster.DaemonLogs(), testing::Not(HasSubstr(value)));
  cluster.KillController();
  EXPECT_THAT(AllFilesBelow(cluster.directory() + "/controller"), testing::Not(HasSubstr(value)));
}

TEST(JobsTest, MissingDataFailsAtOnceAndIsNotTriedAgain) {
  MiniCluster cluster(1);
  const int64_t job_id =
      cluster.Submit(cluster.WriteJob("nodata", TinyJob("nodata", "/no/such/tokens", 1, 10)));
  const v1::Job job = cluster.WaitForEnd(job_id, Seconds(60));
  ASSERT_EQ(job.state(), v1::JOB_STATE_FAILED);
  ASSERT_EQ(job.attempts_size(), 1);
  EXPECT_EQ(job.attempts(0).verdict().cause(), v1::VERDICT_CAUSE_BAD_JOB);
  EXPECT_EQ(job.attempts(0).verdict().exit_code(), 66);
  EXPECT_THAT(job.attempts(0).verdict().log_tail(), HasSubstr("/no/such/tokens"));
}

TEST(JobsTest, TokensOutsideTheVocabularyAreRefused) {
  MiniCluster cluster(1);
  const std::string tokens = cluster.MakeTokens();
  const int64_t job_id = cluster.Submit(cluster.WriteJob("vocab", TinyJob("vocab", tokens, 1, 10)),
                                        {"--set", "model.vocab_size=100"});
  const v1::Job job = cluster.WaitForEnd(job_id, Seconds(60));
  ASSERT_EQ(job.state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(job.attempts(0).verdict().cause(), v1::VERDICT_CAUSE_BAD_JOB);
}

TEST(JobsTest, SubmitRefusesWhatCannotRun) {
  MiniCluster cluster(2);
  const std::string job = cluster.WriteJob(
      "big", "name: big\nresources: {nodes: 3, device: cpu}\ncommand: [/bin/true]\n");
  const CommandResult refused = cluster.Cli({"submit", job});
  EXPECT_EQ(refused.exit_code, 4) << refused.error;
  EXPECT_THAT(refused.error, HasSubstr("2 nodes"));
  EXPECT_TRUE(refused.output.empty());

  const CommandResult typo = cluster.Cli({"submit", job, "--set", "resources.ndoes=1"});
  EXPECT_EQ(typo.exit_code, 2);
  EXPECT_THAT(typo.error, HasSubstr("resources.nodes"));
  EXPECT_EQ(cluster.Cli({"submit", cluster.directory() + "/none.yaml"}).exit_code, 2);
  EXPECT_EQ(cluster.Cli({"describe", "999"}).exit_code, 3);
}

TEST(JobsTest, QueueIsFirstComeFirstServedAndWhyTellsThePlace) {
  MiniCluster cluster(1);
  const std::string job = "resources: {device: cpu}\ncommand: [/bin/sleep, '600']\n";
  const int64_t first = cluster.Submit(cluster.WriteJob("first", "name: first\n" + job));
  const int64_t second = cluster.Submit(cluster.WriteJob("second", "name: second\n" + job));
  ASSERT_TRUE(Eventually([&] { return cluster.Job(first).state() == v1::JOB_STATE_RUNNING; }));
  EXPECT_EQ(cluster.Job(second).state(), v1::JOB_STATE_QUEUED);
  EXPECT_THAT(cluster.Cli({"why", "second"}).output,
              testing::AllOf(HasSubstr("needs 1"), HasSubstr("1 of 1")));
  EXPECT_EQ(cluster.Cli({"kill", "-y", "first"}).exit_code, 0);
  EXPECT_EQ(cluster.WaitForEnd(first, Seconds(20)).state(), v1::JOB_STATE_STOPPED);
  ASSERT_TRUE(Eventually([&] { return cluster.Job(second).state() == v1::JOB_STATE_RUNNING; }));
  EXPECT_EQ(cluster.Cli({"kill", "-y", "second"}).exit_code, 0);
  EXPECT_EQ(cluster.WaitForEnd(second, Seconds(20)).state(), v1::JOB_STATE_STOPPED);
}

TEST(JobsTest, DaemonsRefuseAPortInUseAndALockedDirectory) {
  MiniCluster cluster(0);
  const CommandResult port =
      RunCommand({ProgramPath("trainyard-controller"), "--listen", cluster.address(), "--data-dir",
                  cluster.directory() + "/other"});
  EXPECT_EQ(port.exit_code, 1);
  EXPECT_THAT(port.error, HasSubstr("is in use"));
  const CommandResult locked =
      RunCommand({ProgramPath("trainyard-controller"), "--listen", "127.0.0.1:0", "--data-dir",
                  cluster.directory() + "/controller"});
  EXPECT_EQ(locked.exit_code, 1);
  EXPECT_THAT(locked.error, HasSubstr("another controller"));
}

TEST(JobsTest, UnreachableControllerIsOneClearMessage) {
  const CommandResult result =
      RunCommand({ProgramPath("trainyard"), "--server", "127.0.0.1:1", "ps"});
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_THAT(result.error, HasSubstr("127.0.0.1:1"));
  EXPECT_THAT(result.error, HasSubstr("trainyard dev"));
}

}  // namespace
}  // namespace trainyard::test
