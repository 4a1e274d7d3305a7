// Tests, with real processes, that small models with the structure of Mixtral 8x7B, Mixtral 8x22B
// and DeepSeek-V3 train through `submit` on two workers. Two ranks share the tensors of attention
// (TP 2) and the experts (EP 2), so tokens are exchanged between the workers. A killed rank costs
// one restart and does not change a bit of the loss.
#include <signal.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

// More steps than the test needs, so that no job ends before the test has killed a rank.
constexpr int kStepsWithoutAnEnd = 1'000'000;
constexpr int64_t kStepsBetweenCheckpoints = 20;  // Steps between two checkpoints (TinyJob).

constexpr char kLayout[] = "layout: {tp: 2, ep: 2, etp: 1}\n";

constexpr char kMixtral8x7b[] = R"(  num_experts: 8
  moe_router_topk: 2
  moe_aux_loss_coeff: 0.01
)";

constexpr char kMixtral8x22b[] = R"(  num_experts: 8
  moe_router_topk: 2
  moe_ffn_hidden_size: 96
  moe_aux_loss_coeff: 0.01
)";

// The second of two layers has experts. Attention computes keys and values from a vector of rank
// 16.
constexpr char kDeepSeekV3[] = R"(  num_experts: 8
  moe_router_topk: 2
  moe_ffn_hidden_size: 32
  moe_shared_expert_intermediate_size: 32
  moe_dense_layers: 1
  moe_router_score_function: sigmoid
  moe_router_num_groups: 4
  moe_router_group_topk: 2
  moe_router_topk_scaling_factor: 2.5
  moe_router_enable_expert_bias: true
  moe_router_load_balancing_type: seq_aux_loss
  moe_aux_loss_coeff: 1e-4
  multi_latent_attention: true
  q_lora_rank: 32
  kv_lora_rank: 16
  qk_head_dim: 16
  qk_pos_emb_head_dim: 8
  v_head_dim: 16
)";

struct Mixture {
  const char* name;
  const char* settings;
  bool has_latent_attention = false;
};

void PrintTo(const Mixture& mixture, std::ostream* out) { *out << mixture.name; }

class MixturesTest : public testing::TestWithParam<Mixture> {
 protected:
  MixturesTest() : cluster_(2), tokens_(cluster_.MakeTokens()) {}

  int64_t Start(const std::string& name) {
    const Mixture& mixture = GetParam();
    std::string job = TinyJob(name, tokens_, 2, kStepsWithoutAnEnd);
    const std::string keys = "  num_query_groups: 2\n";
    const size_t position = job.find(keys);
    const std::string kept = mixture.has_latent_attention ? "" : keys;
    job.replace(position, keys.size(), kept + mixture.settings);
    return cluster_.Submit(cluster_.WriteJob(name, job + kLayout));
  }

  MiniCluster cluster_;
  const std::string tokens_;
};

TEST_P(MixturesTest, TrainsOnTwoWorkersAndSurvivesAKilledRank) {
  const int64_t job_id = Start("disturbed");
  ASSERT_TRUE(cluster_.WaitForCheckpoint(job_id, kStepsBetweenCheckpoints))
      << cluster_.DaemonLogs();
  const pid_t victim = cluster_.RankPid(job_id, 1, 1);
  ASSERT_GT(victim, 0);
  kill(victim, SIGKILL);
  ASSERT_TRUE(Eventually([&] { return cluster_.Job(job_id).attempts_size() == 2; }));
  const int64_t resume_step = cluster_.Job(job_id).attempts(1).resume_step();
  EXPECT_GE(resume_step, kStepsBetweenCheckpoints);
  const v1::Job job = cluster_.StopAfter(job_id, resume_step + kStepsBetweenCheckpoints);
  ASSERT_EQ(job.attempts_size(), 2);
  EXPECT_EQ(job.attempts(0).verdict().signal(), SIGKILL);

  const auto losses = cluster_.Series(job_id, "loss");
  ASSERT_FALSE(losses.empty());
  const int64_t last = losses.rbegin()->first;
  EXPECT_EQ(static_cast<int64_t>(losses.size()), last) << "every step is there";
  const int64_t undisturbed = Start("undisturbed");
  cluster_.StopAfter(undisturbed, last);
  auto expected = cluster_.Series(undisturbed, "loss");
  expected.erase(expected.upper_bound(last), expected.end());
  EXPECT_EQ(losses, expected);
}

INSTANTIATE_TEST_SUITE_P(Recipes, MixturesTest,
                         testing::Values(Mixture{"mixtral_8x7b", kMixtral8x7b},
                                         Mixture{"mixtral_8x22b", kMixtral8x22b},
                                         Mixture{"deepseek_v3", kDeepSeekV3, true}),
                         [](const auto& mixture) { return std::string(mixture.param.name); });

}  // namespace
}  // namespace trainyard::test
