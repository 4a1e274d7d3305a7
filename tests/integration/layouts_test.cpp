// Tests layouts with worker daemons. A gang with TP2 x PP2 on two nodes loses a rank. After that, a
// job with another layout resumes from the gang's checkpoint.
#include <signal.h>

#include <algorithm>
#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

constexpr int kEndless = 1'000'000;

class LayoutsTest : public testing::Test {
 protected:
  LayoutsTest() : cluster_(/*nodes=*/2, /*slots_per_node=*/2), tokens_(cluster_.MakeTokens()) {}

  // Submits the tiny job on both nodes. `settings` are command-line arguments.
  int64_t Submit(const std::string& name, const std::vector<std::string>& settings) {
    std::vector<std::string> more = {"--set", "resources.slots_per_node=2"};
    for (const std::string& setting : settings) more.insert(more.end(), {"--set", setting});
    return cluster_.Submit(cluster_.WriteJob(name, TinyJob(name, tokens_, 2, kEndless)), more);
  }

  MiniCluster cluster_;
  const std::string tokens_;
};

TEST_F(LayoutsTest, TensorAndPipelineParallelGangSurvivesTheLossOfARank) {
  const std::vector<std::string> layout = {"layout.tp=2", "layout.pp=2"};
  const int64_t job_id = Submit("disturbed", layout);
  ASSERT_TRUE(cluster_.WaitForCheckpoint(job_id, 20)) << cluster_.DaemonLogs();
  const pid_t victim = cluster_.RankPid(job_id, 1, 3);
  ASSERT_GT(victim, 0);
  kill(victim, SIGKILL);
  ASSERT_TRUE(Eventually([&] {
    const v1::Job job = cluster_.Job(job_id);
    return job.attempts_size() == 2 && job.state() == v1::JOB_STATE_RUNNING;
  }));
  const int64_t resume_step = cluster_.Job(job_id).attempts(1).resume_step();
  const v1::Job job = cluster_.StopAfter(job_id, resume_step + 30);
  EXPECT_GE(resume_step, 20);
  EXPECT_EQ(job.attempts(0).verdict().rank(), 3) << job.attempts(0).verdict().DebugString();
  EXPECT_EQ(job.restarts(), 1);

  const auto losses = cluster_.Series(job_id, "loss");
  const int64_t undisturbed = Submit("undisturbed", layout);
  cluster_.StopAfter(undisturbed, losses.rbegin()->first);
  auto expected = cluster_.Series(undisturbed, "loss");
  expected.erase(expected.upper_bound(losses.rbegin()->first), expected.end());
  EXPECT_EQ(losses, expected) << "bit for bit";
}

TEST_F(LayoutsTest, AFrozenRankIsNamed) {
  const int64_t job_id = Submit("frozen", {"layout.tp=2", "layout.pp=2"});
  ASSERT_TRUE(cluster_.WaitForStep(job_id, 20)) << cluster_.DaemonLogs();
  const v1::ListRanksResponse moving = cluster_.Ranks(job_id);
  for (const v1::RankStatus& rank : moving.ranks()) {
    EXPECT_GT(rank.step_time().compute(), 0) << rank.DebugString();
    EXPECT_GT(rank.step_time().optimizer(), 0) << rank.DebugString();
    EXPECT_GT(rank.step_time().tp_wait(), 0) << rank.DebugString();
    EXPECT_GT(rank.step_time().pp_wait(), 0) << rank.DebugString();
    EXPECT_EQ(rank.step_time().cp_wait(), 0) << rank.DebugString();
    EXPECT_EQ(rank.flights_size(), 0) << rank.DebugString();
  }
  const pid_t victim = cluster_.RankPid(job_id, 1, 2);
  ASSERT_GT(victim, 0);
  kill(victim, SIGSTOP);
  const auto why = [&] { return cluster_.Described(job_id).pending(); };
  // The controller detects the stall when the ranks report what they wait for, or up to a second
  // earlier. If earlier, the rank is named later.
  EXPECT_TRUE(Eventually([&] {
    return why().code() == v1::PENDING_CODE_STALLED &&
           why().message().starts_with("rank 2 has not reached ");
  })) << why().message();
  EXPECT_THAT(cluster_.Cli({"why", "frozen"}).output,
              testing::HasSubstr("rank 2 has not reached "));
  kill(victim, SIGCONT);
  EXPECT_TRUE(Eventually([&] { return why().code() != v1::PENDING_CODE_STALLED; }));
  cluster_.StopAfter(job_id, cluster_.Job(job_id).progress().step() + 20);
}

TEST_F(LayoutsTest, EveryModelFamilyTrains) {
  const std::map<std::string, std::vector<std::string>> families = {
      {"llama31", {"model.rope_scaling_factor=8", "model.rope_original_length=16"}},
      {"qwen3",
       {"model.qk_layernorm=true", "model.kv_channels=12",
        "model.untie_embeddings_and_output_weights=false"}},
      {"olmo", {"model.normalization=layer_norm", "model.norm_weights=false"}},
      {"gpt2",
       {"model.normalization=layer_norm", "model.add_bias_linear=true",
        "model.activation=gelu_tanh", "model.position_embedding_type=learned_absolute",
        "model.max_position_embeddings=64", "model.untie_embeddings_and_output_weights=false"}},
      {"gpt3-15b",
       {"model.normalization=layer_norm", "model.add_bias_linear=true",
        "model.activation=squared_relu", "model.untie_embeddings_and_output_weights=false"}},
      {"gpt-neox",
       {"model.normalization=layer_norm", "model.add_bias_linear=true",
        "model.activation=gelu_tanh", "model.rotary_percent=0.25",
        "model.parallel_residual=true"}}};
  for (const auto& [name, settings] : families) {
    SCOPED_TRACE(name);
    std::vector<std::string> all = {"layout.tp=2", "layout.pp=2", "train.steps=20"};
    all.insert(all.end(), settings.begin(), settings.end());
    const int64_t job_id = Submit(name, all);
    EXPECT_EQ(cluster_.WaitForEnd(job_id).state(), v1::JOB_STATE_SUCCEEDED)
        << cluster_.DaemonLogs();
    const auto losses = cluster_.Series(job_id, "loss");
    ASSERT_EQ(losses.size(), 20u);
    EXPECT_LT(losses.rbegin()->second, losses.begin()->second);
  }
}

TEST_F(LayoutsTest, AJobGoesOnWithAnotherLayout) {
  const int64_t first = Submit("first", {"layout.tp=2", "layout.pp=2"});
  ASSERT_TRUE(cluster_.WaitForCheckpoint(first, 40)) << cluster_.DaemonLogs();
  const v1::Job stopped = cluster_.StopAfter(first, 60);
  std::string path;
  for (const v1::Checkpoint& checkpoint : stopped.checkpoints()) {
    if (path.empty() || checkpoint.step() == 40) path = checkpoint.path();
  }
  const int64_t second =
      Submit("second", {"layout.cp=2", "layout.zero=3", "checkpoint.resume_from=" + path});
  cluster_.StopAfter(second, 60);
  const auto before = cluster_.Series(first, "loss"), after = cluster_.Series(second, "loss");
  ASSERT_FALSE(after.empty());
  EXPECT_GT(after.begin()->first, 20) << "it goes on and does not begin anew";
  int64_t compared = 0;
  for (const auto& [step, loss] : after) {
    const auto same = before.find(step);
    if (same == before.end()) continue;
    EXPECT_NEAR(loss, same->second, 1e-5 * loss) << "step " << step;
    ++compared;
  }
  EXPECT_GE(compared, 10);
}

}  // namespace
}  // namespace trainyard::test
