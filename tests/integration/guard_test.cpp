// Tests the loss guard with the real trainer. A batch of garbage is detected, and the run rolls
// back. The rest of the run must equal, bit for bit, a run that skipped the garbage from the start.
#include <signal.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

constexpr int kSamples = 6000;
constexpr int kSeqLength = 16;
constexpr int kSteps = 700;
// This sample is garbage. The last token of the preceding sample is the first token of the garbage,
// so the preceding sample's loss spikes, too.
constexpr int kBadSample = 4000;

// Writes token files that repeat the tokens 0 to 15. A model learns the pattern within 100 steps.
// Like nanoGPT's token files, the files have no header.
void WriteTokens(const std::string& directory) {
  std::filesystem::create_directories(directory);
  std::vector<uint16_t> tokens(kSamples * kSeqLength + 1);
  uint32_t any = 12345;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<uint16_t>(i % 16);
    if (i / kSeqLength != kBadSample) continue;
    any = (any * 1103515245U + 12345U) % (1U << 31);
    tokens[i] = static_cast<uint16_t>(16 + (any >> 16) % 240);
  }
  for (const char* split : {"train", "val"}) {
    std::ofstream(absl::StrCat(directory, "/", split, ".bin"), std::ios::binary)
        .write(reinterpret_cast<const char*>(tokens.data()),
               static_cast<std::streamsize>(tokens.size() * sizeof(uint16_t)));
  }
}

std::string Bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the tensor files of a checkpoint, by name.
std::map<std::string, std::string> TensorFiles(const std::string& checkpoint) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(checkpoint)) {
    if (entry.path().extension() == ".safetensors") {
      files[entry.path().filename()] = Bytes(entry.path());
    }
  }
  return files;
}

class GuardTest : public testing::Test {
 protected:
  GuardTest() : cluster_(2), tokens_(cluster_.directory() + "/periodic") { WriteTokens(tokens_); }

  std::string JobOf(const std::string& name, const std::string& more) const {
    return absl::StrCat(
        "name: ", name, R"(
resources: {nodes: 2, device: cpu}
model:
  num_layers: 2
  hidden_size: 64
  ffn_hidden_size: 128
  num_attention_heads: 4
  num_query_groups: 2
  vocab_size: 257
train: {seq_length: 16, global_batch: 8, precision: fp32, threads: 1, steps: )",
        kSteps, R"(}
schedule: {kind: constant, warmup_steps: 5}
checkpoint: {every_steps: 50, keep_last: 3}
restart: {backoff: 0}
data: {format: nanogpt, path: )",
        tokens_, "}\n",
        more.find("optimizer:") == std::string::npos ? "optimizer: {lr: 1e-3, min_lr: 1e-3}\n" : "",
        more);
  }

  int64_t Submit(const std::string& name, const std::string& more) {
    return cluster_.Submit(cluster_.WriteJob(name, JobOf(name, more)));
  }

  std::string LastCheckpoint(int64_t job_id) const {
    const v1::Job job = cluster_.Job(job_id);
    for (const v1::Checkpoint& checkpoint : job.checkpoints()) {
      if (checkpoint.step() == kSteps && !checkpoint.rolled_back()) return checkpoint.path();
    }
    return "";
  }

  MiniCluster cluster_;
  const std::string tokens_;
};

TEST_F(GuardTest, RolledBackRunEqualsACleanRunBitForBit) {
  const int64_t guarded = Submit("guarded", "guard: {policy: skip, window: 20, z_score: 0}\n");
  // After the two rollbacks, the test kills the controller and then a rank. The list of rollbacks
  // must survive both.
  ASSERT_TRUE(Eventually([&] { return cluster_.Job(guarded).rollbacks_size() == 2; }))
      << cluster_.DaemonLogs();
  cluster_.KillController();
  cluster_.StartController();
  ASSERT_TRUE(Eventually([&] {
    const v1::Job job = cluster_.Job(guarded);
    return job.attempts_size() == 3 && job.state() == v1::JOB_STATE_RUNNING;
  }));
  const pid_t victim = cluster_.RankPid(guarded, 3, 1);
  ASSERT_GT(victim, 0);
  kill(victim, SIGKILL);
  const v1::Job job = cluster_.WaitForEnd(guarded);
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.verdict().DebugString();

  ASSERT_EQ(job.attempts_size(), 4);
  EXPECT_EQ(job.attempts(0).stop_reason(), v1::STOP_REASON_ROLLED_BACK);
  EXPECT_EQ(job.attempts(0).verdict().cause(), v1::VERDICT_CAUSE_LOSS_SPIKE);
  EXPECT_EQ(job.attempts(1).resume_step(), 200);
  EXPECT_EQ(job.attempts(1).skip_samples(), "1896:1904");
  EXPECT_EQ(job.attempts(1).stop_reason(), v1::STOP_REASON_ROLLED_BACK);
  EXPECT_EQ(job.attempts(2).resume_step(), 350);
  const std::string skipped = job.attempts(3).skip_samples();
  EXPECT_EQ(skipped, "1896:1904,2928:2936");
  EXPECT_EQ(job.attempts(2).skip_samples(), skipped);
  EXPECT_EQ(job.restarts(), 1) << "the killed rank; rollbacks use no restart budget";

  const int64_t clean =
      Submit("clean", absl::StrCat("command: [env, \"TRAINYARD_SKIP_SAMPLES=", skipped, "\", ",
                                   ProgramPath("trainyard-trainer"), "]\n"));
  ASSERT_EQ(cluster_.WaitForEnd(clean).state(), v1::JOB_STATE_SUCCEEDED) << cluster_.DaemonLogs();
  EXPECT_EQ(cluster_.Series(guarded, "loss"), cluster_.Series(clean, "loss"));
  const auto tensors = TensorFiles(LastCheckpoint(guarded));
  ASSERT_FALSE(tensors.empty());
  EXPECT_TRUE(tensors == TensorFiles(LastCheckpoint(clean))) << "weights and moments";

  const std::string told = cluster_.Cli({"describe", "guarded"}).output;
  EXPECT_THAT(told, testing::HasSubstr("2 of 5 used"));
  EXPECT_THAT(told, testing::HasSubstr("from step 238 to 200 (the loss 1."));
  EXPECT_THAT(told, testing::HasSubstr("attempt 2 rolled back: step 366: the loss 0.1"));
  EXPECT_THAT(told, testing::HasSubstr("alert loss_spike at step 366"));
}

TEST_F(GuardTest, WithoutAPolicyASpikeIsAnAlert) {
  const int64_t job_id = Submit("alerted", "guard: {window: 20}\n");
  const v1::Job job = cluster_.WaitForEnd(job_id);
  EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(job.attempts_size(), 1);
  const v1::GetJobResponse described = cluster_.Described(job_id);
  ASSERT_GE(described.alerts_size(), 2);
}

// The trainer exits because of a NaN loss. The alert with the reason may arrive after the exit.
TEST_F(GuardTest, ALossThatIsNoNumberUsesTheBudgetOfRollbacksOnly) {
  const int64_t job_id = Submit("overflowing",
                                "guard: {policy: skip, max_rollbacks: 2}\n"
                                "optimizer: {lr: 100, min_lr: 100, weight_decay: 10}\n");
  const v1::Job job = cluster_.WaitForEnd(job_id);
  EXPECT_EQ(job.state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(job.rollbacks_size(), 2);
  EXPECT_EQ(job.attempts_size(), 3);
  EXPECT_EQ(job.restarts(), 0);
  EXPECT_EQ(job.verdict().cause(), v1::VERDICT_CAUSE_LOSS_NOT_FINITE);
  EXPECT_THAT(job.verdict().summary(), testing::HasSubstr("guard.max_rollbacks (2)"));
}

TEST_F(GuardTest, StopEndsTheJobWithTheEvidence) {
  const int64_t job_id = Submit("stopped", "guard: {policy: stop, window: 20, z_score: 0}\n");
  const v1::Job job = cluster_.WaitForEnd(job_id);
  EXPECT_EQ(job.state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(job.attempts_size(), 1);
  EXPECT_EQ(job.verdict().cause(), v1::VERDICT_CAUSE_LOSS_SPIKE);
  EXPECT_THAT(job.verdict().summary(), testing::HasSubstr("guard.policy is stop"));
}

}  // namespace
}  // namespace trainyard::test
