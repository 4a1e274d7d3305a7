// Tests compatibility with earlier versions. Today's programs must be able to continue with the
// sample data directories, spools and checkpoints, and with ranks that keep running during a
// version change.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// The jobs in samples/bb9e634/cluster.tar.gz. samples/bb9e634/make.sh describes the jobs.
constexpr int64_t kFinished = 1, kNoShard = 2, kEndedUnseen = 3, kLost = 4, kWaiting = 5;

std::string Sample(const std::string& name) {
  return absl::StrCat(SOURCE_ROOT, "/tests/integration/samples/bb9e634/", name);
}

// A lock for tests whose worker has the node id of the sample. Only one such worker may run at a
// time, because a worker kills unknown ranks of its node anywhere on this machine.
class SampleNode {
 public:
  SampleNode()
      : lock_(open(absl::StrCat(testing::TempDir(), "trainyard-sample-node-", getuid()).c_str(),
                   O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    EXPECT_EQ(flock(lock_, LOCK_EX), 0) << strerror(errno);
  }
  ~SampleNode() { close(lock_); }
  SampleNode(const SampleNode&) = delete;

 private:
  const int lock_;
};

class KeptDataTest : public testing::Test {
 protected:
  SampleNode node_;
  MiniCluster cluster_{1, 2, Sample("cluster.tar.gz")};
};

TEST_F(KeptDataTest, JobsThatHadEndedAreShown) {
  EXPECT_THAT(cluster_.Cli({"ps", "-a"}).output,
              AllOf(HasSubstr("finished"), HasSubstr("no-shard"), HasSubstr("ended-unseen"),
                    HasSubstr("lost"), HasSubstr("waiting")));
  EXPECT_THAT(cluster_.Cli({"describe", "finished"}).output,
              AllOf(HasSubstr("checkpoint of step 20 deleted"), HasSubstr("/none/step_40"),
                    HasSubstr("the loss rose")));
  EXPECT_THAT(cluster_.Cli({"describe", "no-shard"}).output, HasSubstr("exited with code 3"));

  const v1::GetJobResponse finished = cluster_.Described(kFinished);
  EXPECT_EQ(finished.job().state(), v1::JOB_STATE_SUCCEEDED);
  ASSERT_EQ(finished.job().checkpoints_size(), 1);
  EXPECT_EQ(finished.job().checkpoints(0).step(), 40);
  EXPECT_EQ(finished.job().checkpoints(0).attempt(), 1);
  ASSERT_GT(finished.ledger().spans_size(), 0);
  EXPECT_EQ(finished.ledger().spans().rbegin()->attempt(), 1);

  const v1::Job failed = cluster_.Job(kNoShard);
  EXPECT_EQ(failed.state(), v1::JOB_STATE_FAILED);
  ASSERT_EQ(failed.attempts_size(), 2);
  EXPECT_EQ(failed.attempts(1).number(), 2);
  EXPECT_EQ(failed.attempts(1).verdict().exit_code(), 3);
}

TEST_F(KeptDataTest, MetricsAndOutputAreRead) {
  const std::map<int64_t, double> loss = cluster_.Series(kFinished, "loss");
  ASSERT_EQ(loss.size(), 40u);
  EXPECT_EQ(loss.at(1), 99.5);
  EXPECT_EQ(loss.at(40), 60.5);
  EXPECT_EQ(cluster_.Logs(kFinished, 0, 1).size(), 40u);
  for (const int64_t attempt : {1, 2}) {
    EXPECT_EQ(cluster_.RawSeries(kNoShard, "loss", attempt).steps_size(), 3);
    EXPECT_THAT(cluster_.Logs(kNoShard, 0, attempt).back().text(), "no such shard");
  }
}

TEST_F(KeptDataTest, JobsHaveNoRelationsAndAcceptNotes) {
  const v1::Job before = cluster_.Job(kFinished);
  EXPECT_EQ(before.notes_size(), 0);
  EXPECT_EQ(before.cloned_from(), 0);
  EXPECT_FALSE(before.has_resumed_from());
  const std::string job = absl::StrCat(kFinished);
  const CommandResult written = cluster_.Cli({"note", job, "--step", "20", "the first run"});
  EXPECT_EQ(written.exit_code, 0) << written.error;
  const v1::Job noted = cluster_.Job(kFinished);
  ASSERT_EQ(noted.notes_size(), 1);
  EXPECT_EQ(noted.notes(0).id(), 1);
  EXPECT_EQ(noted.notes(0).step(), 20);
  EXPECT_THAT(cluster_.Cli({"describe", job}).output, HasSubstr("the first run"));
}

TEST_F(KeptDataTest, SpoolIsDelivered) {
  const v1::Job job = cluster_.WaitForEnd(kEndedUnseen);
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  ASSERT_EQ(job.attempts_size(), 2);
  const std::vector<v1::LogLine> lines = cluster_.Logs(kEndedUnseen, 0, 2);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.back().text(), "the last line");
  const v1::Series loss = cluster_.RawSeries(kEndedUnseen, "loss", 2);
  ASSERT_EQ(loss.steps_size() + 1, static_cast<int>(lines.size()));
  for (int i = 0; i < loss.steps_size(); ++i) {
    EXPECT_EQ(loss.steps(i), i + 1);
    EXPECT_EQ(loss.counts(i), 1);
    EXPECT_EQ(lines[i].text(), absl::StrCat("step ", i + 1));
  }
}

TEST_F(KeptDataTest, LostRankEndsItsAttemptWithAReasonAndTheQueueGoesOn) {
  const v1::Job lost = cluster_.WaitForEnd(kLost);
  ASSERT_EQ(lost.state(), v1::JOB_STATE_SUCCEEDED) << lost.DebugString();
  ASSERT_EQ(lost.attempts_size(), 3);
  const v1::Verdict& verdict = lost.attempts(1).verdict();
  EXPECT_EQ(verdict.cause(), v1::VERDICT_CAUSE_RANK_SIGNALED);
  // Both texts are possible: the sample data may seem to come from this boot of the machine or from
  // an earlier boot.
  EXPECT_THAT(verdict.log_tail(),
              testing::AnyOf(HasSubstr("the rank and its shim are gone without an exit record"),
                             HasSubstr("the machine was restarted while the rank ran")));
  EXPECT_EQ(lost.attempts(2).number(), 3) << "a number that was seen before is not given again";
  EXPECT_EQ(cluster_.Logs(kLost, 0, 3).front().text(), "attempt 3");

  const v1::Job waiting = cluster_.WaitForEnd(kWaiting);
  ASSERT_EQ(waiting.state(), v1::JOB_STATE_SUCCEEDED) << waiting.DebugString();
  EXPECT_EQ(cluster_.Logs(kWaiting, 0, 1).front().text(), "its turn");
}

TEST_F(KeptDataTest, WorkerTakesOverItsFiles) {
  cluster_.WaitForEnd(kLost);
  const std::string worker = cluster_.directory() + "/worker0/";
  EXPECT_TRUE(std::filesystem::exists(worker + "attempt_numbers.bin"));
  EXPECT_FALSE(std::filesystem::exists(worker + "epochs.bin"));
}

// The files that a worker of bb9e634 writes for a running rank differ from today's files only in
// one name.
TEST(KeptRanksTest, RankThatRunsDuringTheChangeIsReattached) {
  MiniCluster cluster(1);
  const std::string end = cluster.directory() + "/end";
  const int64_t job_id = cluster.Submit(
      cluster.WriteJob("runs-on", absl::StrCat(R"(name: runs-on
resources: {device: cpu}
command: [/bin/sh, -c, 'echo begins; until [ -e )",
                                               end, R"( ]; do sleep 0.05; done; echo ends']
)")));
  ASSERT_TRUE(Eventually([&] { return cluster.RankPid(job_id, 1, 0) != 0; }));
  const pid_t rank = cluster.RankPid(job_id, 1, 0);
  cluster.KillWorker(0);
  const std::string worker = cluster.directory() + "/worker0/";
  std::filesystem::rename(worker + "attempt_numbers.bin", worker + "epochs.bin");
  cluster.StartWorker(0);
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(worker + "attempt_numbers.bin"); }));
  EXPECT_EQ(kill(rank, 0), 0);
  WriteFile(end, "");
  const v1::Job job = cluster.WaitForEnd(job_id);
  EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  EXPECT_EQ(job.attempts_size(), 1);
  EXPECT_EQ(cluster.Logs(job_id, 0, 1).back().text(), "ends");
}

class KeptCheckpointTest : public testing::Test {
 protected:
  KeptCheckpointTest() { Unpack(Sample("trainer.tar.gz"), folder_.path()); }

  CommandResult Resume(int64_t attempt) {
    return RunCommand(
        {"/bin/sh", "-c",
         absl::StrCat("cd ", folder_.path(), " && TRAINYARD_JOB_ID=7 ",
                      "TRAINYARD_ATTEMPT=", attempt, " TRAINYARD_CHECKPOINT_DIR=checkpoints ",
                      ProgramPath("trainyard-trainer"), " --config run.json --resume")});
  }

  // Returns the loss of each step in a telemetry file.
  std::map<int64_t, double> Losses(const std::string& name) {
    std::map<int64_t, double> losses;
    for (const auto line : absl::StrSplit(ReadFile(folder_.File(name)), '\n', absl::SkipEmpty())) {
      const nlohmann::json record = nlohmann::json::parse(line);
      if (record["type"] == "metrics") losses[record["step"]] = record["loss"];
    }
    return losses;
  }

  TemporaryDirectory folder_;
};

TEST_F(KeptCheckpointTest, Resumes) {
  const CommandResult result = Resume(4);
  ASSERT_EQ(result.exit_code, 0) << result.output << result.error;
  const std::map<int64_t, double> expected = Losses("expected.jsonl");
  const std::map<int64_t, double> losses = Losses("telemetry.jsonl");
  ASSERT_EQ(losses.size(), 10u);
  // Allows a difference, because another processor may add the numbers in a different order.
  for (const auto& [step, loss] : losses) EXPECT_NEAR(loss, expected.at(step), 1e-4) << step;
}

// The checkpoint commands must read data of earlier versions and write data that today's trainer
// can read.
TEST_F(KeptCheckpointTest, IsVerifiedAndReshardedAndStaysTheSame) {
  const std::string kept = folder_.File("checkpoints"), step = kept + "/step_000000020";
  const auto ckpt = [](std::vector<std::string> words) {
    words.insert(words.begin(), {ProgramPath("trainyard"), "ckpt"});
    return RunCommand(words);
  };
  const CommandResult verified = ckpt({"verify", kept});
  EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.error;
  EXPECT_THAT(verified.output, HasSubstr("step_000000020 is sound: step 20, "));
  const std::string out = folder_.File("resharded/step_000000020");
  const CommandResult resharded = ckpt({"reshard", step, out, "--files", "2"});
  EXPECT_EQ(resharded.exit_code, 0) << resharded.output << resharded.error;
  EXPECT_EQ(ckpt({"diff", step, out}).exit_code, 0);
  std::filesystem::rename(step, folder_.File("kept"));
  std::filesystem::rename(out, step);
  EXPECT_EQ(Resume(4).exit_code, 0);
  EXPECT_EQ(ckpt({"verify", folder_.File("none")}).exit_code, 74);
}

TEST_F(KeptCheckpointTest, FenceHoldsInBothVersions) {
  EXPECT_EQ(Resume(2).exit_code, 77) << "attempt 3 raised the fence";
  EXPECT_EQ(Resume(4).exit_code, 0);
  EXPECT_THAT(ReadFile(folder_.File("checkpoints/EPOCH")),
              testing::StartsWith("00000000000000000004 "));
}

}  // namespace
}  // namespace trainyard::test
