// Tests failures that would recur in every attempt. Such failures must end a job after two
// attempts, and the job must show the reason.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using testing::HasSubstr;

class VainRetriesTest : public testing::Test {
 protected:
  v1::Job Run(const std::string& name, const std::string& more) {
    const std::string file =
        cluster_.WriteJob(name, absl::StrCat("name: ", name, "\nresources: {device: cpu}\n", more));
    return cluster_.WaitForEnd(cluster_.Submit(file), Seconds(60));
  }

  std::string PythonJob(const std::string& program) {
    const std::string path = absl::StrCat(cluster_.directory(), "/train.py");
    WriteFile(path, program);
    return absl::StrCat("command: [/usr/bin/python3, ", path, "]\n");
  }

  MiniCluster cluster_{2};
};

TEST_F(VainRetriesTest, AnExceptionOfPythonIsTriedOnceMore) {
  const std::string job_text =
      PythonJob("settings = {'lr': 1}\nprint('begins', flush=True)\nsettings['steps']\n");
  const v1::Job job = Run("typo", absl::StrCat("restart: {backoff: 0}\n", job_text));
  EXPECT_EQ(job.state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(job.attempts_size(), 2) << job.DebugString();
  EXPECT_EQ(job.verdict().error_line(), "KeyError: 'steps'");
  EXPECT_THAT(job.verdict().summary(), HasSubstr("also failed before its first step"));
  const std::string told = cluster_.Cli({"describe", "typo"}).output;
  EXPECT_THAT(told,
              HasSubstr("exited with code 1: KeyError: 'steps'; attempt 1 also failed before"));
  EXPECT_THAT(told, HasSubstr("another attempt would fail again"));
  EXPECT_THAT(cluster_.Cli({"why", "typo"}).output, HasSubstr("KeyError: 'steps'"));
}

TEST_F(VainRetriesTest, AnExceptionAtTheSameStepIsTriedOnceMore) {
  const std::string job_text = PythonJob(R"(import json, os, time
with open(os.environ["TRAINYARD_TELEMETRY"], "a") as out:
    for step in range(1, 100):
        print(json.dumps({"type": "metrics", "time_ms": int(time.time() * 1000), "step": step,
                          "loss": 1.0}), file=out, flush=True)
        assert step < 58, "sample %d is empty" % step
)");
  const v1::Job job = Run("empty-sample", absl::StrCat("restart: {backoff: 0}\n", job_text));
  EXPECT_EQ(job.state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(job.attempts_size(), 2) << job.DebugString();
  EXPECT_THAT(job.verdict().summary(), HasSubstr("AssertionError: sample 58 is empty; attempt 1 "
                                                 "failed in the same way at step 58"));
}

TEST_F(VainRetriesTest, AProgramThatTheShellDoesNotFindIsTriedOnTheOtherNode) {
  const v1::Job job =
      Run("nowhere", "restart: {backoff: 0}\ncommand: [/bin/sh, -c, no-such-program-of-anybody]\n");
  EXPECT_EQ(job.state(), v1::JOB_STATE_FAILED);
  ASSERT_EQ(job.attempts_size(), 2) << job.DebugString();
  EXPECT_NE(job.attempts(0).ranks(0).node_id(), job.attempts(1).ranks(0).node_id());
  EXPECT_EQ(job.verdict().exit_code(), 127);
  EXPECT_THAT(job.verdict().summary(), HasSubstr("could not start the rank either"));
}

TEST_F(VainRetriesTest, ARuleOfTheJobEndsItAtOnceWithItsMessage) {
  const v1::Job job = Run("oom", absl::StrCat("restart: {rules: [fail out of memory => lower the "
                                              "batch]}\n",
                                              PythonJob("raise MemoryError('out of memory')\n")));
  EXPECT_EQ(job.state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(job.attempts_size(), 1);
  EXPECT_THAT(
      job.verdict().summary(),
      HasSubstr("restart.rules chose fail, because the output matches `out of memory`: lower "
                "the batch"));
}

}  // namespace
}  // namespace trainyard::test
