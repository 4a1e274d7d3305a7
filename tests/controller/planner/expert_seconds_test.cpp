#include "controller/planner/expert_seconds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "controller/planner/pass_seconds.h"
#include "tests/controller/planner/run_settings.h"

namespace trainyard::planner {
namespace {

Cluster H200s(int64_t per_node, int64_t nodes = 1) {
  return {FindDeviceSpec("H200"), nodes, per_node, *FindNetwork("ndr")};
}

// A layer of `experts` experts of `width`, with `rows` rows for each.
BlockWork LayerOf(double experts, double width, double rows) {
  BlockWork work;
  work.hidden = 2048;
  work.rows = work.norm_rows = 4096;
  work.experts = {.count = experts, .all = experts, .rows = experts * rows, .ffn = width};
  return work;
}

// TF/s of the products of a layer's experts: of the forward pass, and of both gradients.
struct Rates {
  double forward = 0;
  double backward = 0;
};

Rates PredictedRates(const BlockWork& work) {
  const Kernels kernels(work, /*is_fp8=*/false, Precision::kBf16, H200s(1), TrainyardProfile());
  double flops = 0;
  for (const Product& product : work.ExpertProducts()) flops += product.Flops() / 1e12;
  return {flops / kernels.ForwardExpertProducts(work.ExpertProducts()),
          2 * flops / kernels.BackwardExpertProducts(work.ExpertProducts())};
}

// Rates of trainer/README.md, "Products", for the form that the trainer uses. The rate of both
// gradients is the harmonic mean of the two measured rates.
TEST(ExpertSecondsTest, ProductsReachTheMeasuredRates) {
  const auto both = [](double data, double weights) { return 2 / (1 / data + 1 / weights); };
  const struct {
    const char* name;
    double experts, width, rows;
    Rates measured;
  } cases[] = {{"M8 8192", 8, 7168, 8192, {692, both(683, 641)}},
               {"M8 2048", 8, 7168, 2048, {665, both(685, 603)}},
               {"M8 512", 8, 7168, 512, {595, both(624, 306)}},
               {"D64 3072", 64, 1408, 3072, {602, both(612, 540)}},
               {"D64 1024", 64, 1408, 1024, {611, both(593, 391)}},
               {"D64 256", 64, 1408, 256, {519, both(561, 126)}}};
  for (const auto& measured : cases) {
    SCOPED_TRACE(measured.name);
    const Rates rates = PredictedRates(LayerOf(measured.experts, measured.width, measured.rows));
    EXPECT_NEAR(rates.forward, measured.measured.forward, 0.16 * measured.measured.forward);
    EXPECT_NEAR(rates.backward, measured.measured.backward, 0.16 * measured.measured.backward);
  }
}

// Nanoseconds per token of a rank for the four passes of a layer (trainer/README.md, "Dispatch").
TEST(ExpertSecondsTest, TransfersTakeTheMeasuredTime) {
  const struct {
    int64_t ranks, topk;
    ExpertDispatch dispatch;
    double nanoseconds;
  } cases[] = {{2, 2, ExpertDispatch::kAllToAll, 65},  {2, 6, ExpertDispatch::kAllToAll, 174},
               {4, 2, ExpertDispatch::kAllToAll, 93},  {4, 6, ExpertDispatch::kAllToAll, 256},
               {2, 6, ExpertDispatch::kAllGather, 74}, {4, 2, ExpertDispatch::kAllGather, 174}};
  for (const auto& measured : cases) {
    SCOPED_TRACE(std::to_string(measured.ranks) + " x " + std::to_string(measured.topk));
    BlockWork work = LayerOf(8, 1408, 0);
    work.rows = work.norm_rows = 32768.0 / static_cast<double>(measured.ranks);
    work.experts.ranks = static_cast<double>(measured.ranks);
    work.experts.rows = work.rows * static_cast<double>(measured.topk);
    work.experts.dispatch = measured.dispatch;
    const Cluster cluster = H200s(measured.ranks);
    const Kernels kernels(work, false, Precision::kBf16, cluster, TrainyardProfile());
    const ExpertSeconds seconds = SecondsOfExperts(work, kernels, cluster, TrainyardProfile());
    const double predicted = (seconds.forward.expert + seconds.backward.expert) / work.rows * 1e9;
    EXPECT_NEAR(predicted, measured.nanoseconds, 0.19 * measured.nanoseconds);
  }
}

TEST(ExpertSecondsTest, ASharedExpertHidesAPartOfTheTransfers) {
  BlockWork work = LayerOf(8, 1408, 4096);
  work.experts.ranks = 4;
  work.experts.dispatch = ExpertDispatch::kAllToAll;
  const Cluster cluster = H200s(4);
  const auto transfers = [&] {
    const Kernels kernels(work, false, Precision::kBf16, cluster, TrainyardProfile());
    return SecondsOfExperts(work, kernels, cluster, TrainyardProfile()).forward.expert;
  };
  const double alone = transfers();
  work.ffn = 2816;
  EXPECT_DOUBLE_EQ(transfers(), 0.45 * alone);
}

// The busiest of four ranks has 1.1 times the mean number of rows. M8 then takes 6 % longer.
TEST(ExpertSecondsTest, AnUnbalancedRouterCosts) {
  const ModelConfig model = WithExperts(Gated(8, 2048, 7168, 16, 32000, 8), 8, 2, 7168);
  const RunConfig config = Settings(model, 2048, 32, 8).Dp(4).Ep(4).WholeExperts().config;
  TrainerProfile even = TrainyardProfile();
  even.expert_imbalance = 1;
  const BlockWork work = ExpertWorkOf(config);
  const auto block = [&](const TrainerProfile& profile) {
    const PassSeconds pass = SecondsOfPass(work, config, H200s(4), profile);
    return (pass.block_forward + pass.block_backward).Total();
  };
  const double cost = block(TrainyardProfile()) / block(even) - 1;
  EXPECT_GT(cost, 0.05);
  EXPECT_LT(cost, 0.1);
}

TEST(ExpertSecondsTest, RecomputationDoesNotRouteAgain) {
  const BlockWork work = LayerOf(8, 7168, 1024);
  const Kernels kernels(work, false, Precision::kBf16, H200s(1), TrainyardProfile());
  const ExpertSeconds seconds = SecondsOfExperts(work, kernels, H200s(1), TrainyardProfile());
  EXPECT_NEAR(seconds.forward.compute - seconds.full.compute,
              TrainyardProfile().seconds_per_routing, 1e-12);
  EXPECT_LT(seconds.selective.compute, seconds.full.compute / 4);
  EXPECT_EQ(seconds.forward.expert, 0) << "one rank";
}

}  // namespace
}  // namespace trainyard::planner
