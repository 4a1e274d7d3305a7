#include "trainer/ops/experts/routing.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/trainer/gpu/accuracy.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr auto kSigmoid = RouterScoreFunction::kSigmoid;

struct RoutingCase {
  std::string name;
  int64_t experts;
  RouterForm form;
};

const RoutingCase kRoutingCases[] = {
    {"Mixtral", 8, {.topk = 2}},
    {"Olmoe", 64, {.topk = 8, .is_normalised = false, .scaling = 1.5}},
    {"DeepSeekV3",
     256,
     {.score = kSigmoid, .topk = 8, .scaling = 2.5, .groups = 8, .group_topk = 4}},
    {"PlainSigmoid", 33, {.score = kSigmoid, .topk = 2, .is_normalised = false}},
    {"MostExperts", 512, {.topk = 10}},
    {"ManyGroups", 512, {.score = kSigmoid, .topk = 8, .groups = 256, .group_topk = 5}},
    {"OneExpert", 1, {.topk = 1}},
    {"AllExperts", 5, {.topk = 5}},
};

// Compares with the plain version in fp64 on a CPU. Scores are distinct in fp32, so both versions
// choose the same experts.
void ExpectRoutingEqualsPlain(const RoutingCase& c, int64_t rows, bool has_bias) {
  const Tensor logits = RandomOnGpu({rows, c.experts}, torch::kFloat32);
  const Tensor bias = has_bias ? RandomOnGpu({c.experts}, torch::kFloat32) : Tensor();
  const Tensor scores = RouterScores(logits, c.form);
  const Tensor exact_scores = RouterScores(Wide(logits).cpu(), c.form);
  ExpectAccurate(scores.cpu(), exact_scores, kShortSumTolerance);
  const Tensor experts = ChooseExperts(scores, bias, c.form);
  EXPECT_TRUE(
      experts.cpu().equal(ChooseExperts(scores.cpu(), has_bias ? bias.cpu() : bias, c.form)));
  const Tensor weights = ExpertWeights(scores, experts, c.form);
  ExpectAccurate(weights.cpu(), ExpertWeights(Wide(scores).cpu(), experts.cpu(), c.form),
                 kShortSumTolerance);
  const Tensor d_weights = RandomOnGpu({rows, c.form.topk}, torch::kFloat32);
  // The terms of a gradient may cancel each other.
  const Tensor expected =
      RouterLogitGradient(Wide(d_weights).cpu(), Wide(scores).cpu(), experts.cpu(), c.form);
  ExpectAccurate(RouterLogitGradient(d_weights, scores, experts, c.form).cpu(), expected,
                 kShortSumTolerance, NormOf(expected) + NormOf(d_weights));
  EXPECT_TRUE(CountRows(experts, c.experts).cpu().equal(CountRows(experts.cpu(), c.experts)));
}

TEST(RoutingGpuTest, EqualsThePlainVersionForEveryForm) {
  torch::manual_seed(1);
  for (const RoutingCase& c : kRoutingCases) {
    for (const int64_t rows : {1, 3, 127, 4099}) {
      SCOPED_TRACE(c.name + " " + std::to_string(rows));
      ExpectRoutingEqualsPlain(c, rows, false);
      if (c.form.score == kSigmoid) ExpectRoutingEqualsPlain(c, rows, true);
    }
  }
}

TEST(RoutingGpuTest, NoRowsAtAll) {
  const RouterForm form{.topk = 2};
  const Tensor scores = RouterScores(torch::empty({0, 8}, OnGpu(torch::kFloat32)), form);
  const Tensor experts = ChooseExperts(scores, {}, form);
  EXPECT_EQ(experts.sizes(), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(CountRows(experts, 8).sum().item<int64_t>(), 0);
}

TEST(RoutingGpuTest, OfEqualScoresTheLowerNumberWins) {
  for (const int64_t experts : {8, 40, 512}) {
    const Tensor scores = torch::full({5, experts}, 0.5, OnGpu(torch::kFloat32));
    const Tensor chosen = ChooseExperts(scores, {}, {.topk = 3}).cpu();
    for (int64_t slot = 0; slot < 3; ++slot) {
      EXPECT_TRUE((chosen.select(1, slot) == slot).all().item<bool>());
    }
  }
  // Negative zero equals zero.
  const Tensor zeros = torch::tensor({{-0.0f, 0.0f, -1.0f}}).to(Gpu());
  EXPECT_EQ(ChooseExperts(zeros, {}, {.topk = 1}).item<int64_t>(), 0);
}

TEST(RoutingGpuTest, OfEqualGroupsTheLowerNumberWins) {
  const Tensor scores = torch::full({3, 12}, 0.25, OnGpu(torch::kFloat32));
  const RouterForm form{.score = kSigmoid, .topk = 2, .groups = 4, .group_topk = 2};
  const Tensor bias = torch::zeros({12}, OnGpu(torch::kFloat32));
  bias.narrow(0, 0, 3).fill_(-1);
  const Tensor chosen = ChooseExperts(scores, bias, form).cpu();
  EXPECT_TRUE((chosen == torch::tensor({{3, 4}}, torch::kInt64)).all().item<bool>());
}

// All scores of the kept group are negative because of the bias.
TEST(RoutingGpuTest, ExpertsOfOtherGroupsAreNeverChosen) {
  const RouterForm form{.score = kSigmoid, .topk = 2, .groups = 2, .group_topk = 1};
  const Tensor scores = torch::full({1, 4}, 0.5, OnGpu(torch::kFloat32));
  const Tensor bias = torch::tensor({-3.0f, -3.0f, -1.0f, -2.0f}).to(Gpu());
  EXPECT_TRUE(
      ChooseExperts(scores, bias, form).cpu().equal(torch::tensor({{2, 3}}, torch::kInt64)));
}

// A run ends when its loss is not finite, but only after the step. Until then, no kernel may read
// outside its tensors.
TEST(RoutingGpuTest, RowsOfNanChooseExistingExpertsOnce) {
  const Tensor scores = Poisoned({3, 40}, torch::kFloat32);
  const Tensor chosen = std::get<0>(ChooseExperts(scores, {}, {.topk = 40}).cpu().sort(1));
  EXPECT_TRUE((chosen == torch::arange(40)).all().item<bool>());
}

TEST(RoutingGpuTest, EveryRunHasTheSameBits) {
  torch::manual_seed(2);
  for (const RoutingCase& c : kRoutingCases) {
    const Tensor logits = RandomOnGpu({4096, c.experts}, torch::kFloat32);
    const Tensor d_weights = RandomOnGpu({4096, c.form.topk}, torch::kFloat32);
    ExpectSameBitsInEveryRun([&] {
      const Tensor scores = RouterScores(logits, c.form);
      const Tensor experts = ChooseExperts(scores, {}, c.form);
      return std::vector<Tensor>{scores, experts, ExpertWeights(scores, experts, c.form),
                                 RouterLogitGradient(d_weights, scores, experts, c.form)};
    });
  }
}

}  // namespace
}  // namespace trainyard::trainer
