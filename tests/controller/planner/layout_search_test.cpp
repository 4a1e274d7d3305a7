#include "controller/planner/layout_search.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "controller/planner/layout_candidates.h"
#include "controller/planner/layout_problem.h"
#include "proto/rules/run_rules.h"
#include "tests/controller/planner/run_settings.h"
#include "tests/controller/planner/uneven_tree.h"

namespace trainyard::planner {
namespace {

Cluster ClusterWith(const std::string& device, int64_t nodes, int64_t per_node = 8) {
  const DeviceSpec* spec = FindDeviceSpec(device);
  return {spec, nodes, per_node, *FindNetwork(spec->network)};
}

RunConfig Llama8b(int64_t batch = 128) {
  return Settings(Llama(32, 4096, 14336, 32), 8192, batch, 1).config;
}
RunConfig Llama405b(int64_t batch = 2048) {
  return Settings(Llama(126, 16384, 53248, 128), 8192, batch, 1).config;
}

int64_t Ranks(const LayoutConfig& layout) { return layout.tp * layout.cp * layout.pp * layout.dp; }

void ExpectAccepted(const RunConfig& config, const LayoutSearch& search, const Cluster& cluster) {
  ASSERT_TRUE(search.best.has_value());
  for (const PlannedLayout& planned : search.pareto) {
    RunConfig run = config;
    run.layout = planned.layout;
    EXPECT_TRUE(FindTrainingProblems(run).empty());
    EXPECT_TRUE(FindOutOfRange(run).empty());
    EXPECT_TRUE(FindLayoutProblems(cluster.devices(), run).empty());
    EXPECT_EQ(Ranks(planned.layout), cluster.devices());
    EXPECT_TRUE(FitsInto(planned.memory, *cluster.device));
    EXPECT_EQ(planned.memory.Total(), PredictTrainingMemory(run).Total());
    EXPECT_DOUBLE_EQ(planned.step.Total(), PredictStep(run, cluster).Total());
  }
}

TEST(LayoutSearchTest, DivisorsAreInOrder) {
  EXPECT_EQ(DivisorsOf(1), (std::vector<int64_t>{1}));
  EXPECT_EQ(DivisorsOf(36), (std::vector<int64_t>{1, 2, 3, 4, 6, 9, 12, 18, 36}));
}

TEST(LayoutSearchTest, ASmallModelOnOneNodeIsDataParallel) {
  const Cluster cluster = ClusterWith("H200", 1);
  const LayoutSearch search = SearchLayouts(Llama8b(), cluster);
  ExpectAccepted(Llama8b(), search, cluster);
  EXPECT_EQ(search.best->layout.dp, 8);
  EXPECT_EQ(search.best->layout.recompute, Recompute::kNone);
}

// Between two leaves with a slow link, pipeline stages exchange less data than data-parallel ranks.
TEST(LayoutSearchTest, ASlowLevelChangesTheChoice) {
  Cluster cluster = ClusterWith("H100", 8);
  const LayoutSearch near = SearchLayouts(Llama8b(), cluster);
  NetworkTreeParts parts = UnevenTree();
  parts.levels[1].bandwidth = 0.1e9;
  cluster.tree = std::make_shared<NetworkTree>(parts);
  const LayoutSearch far = SearchLayouts(Llama8b(), cluster);
  ExpectAccepted(Llama8b(), far, cluster);
  PlannedLayout kept = *near.best;
  RunConfig run = Llama8b();
  run.layout = kept.layout;
  EXPECT_LT(far.best->step.Total(), 0.9 * PredictStep(run, cluster).Total());
}

TEST(LayoutSearchTest, ClustersNeedNotBePowersOfTwo) {
  for (const int64_t nodes : {3, 5, 7, 9, 12, 15}) {
    const Cluster cluster = ClusterWith("H100", nodes);
    const RunConfig config = Llama8b(nodes * 64);
    ExpectAccepted(config, SearchLayouts(config, cluster), cluster);
  }
  const Cluster odd = ClusterWith("A100", 5, 6);
  ExpectAccepted(Llama8b(240), SearchLayouts(Llama8b(240), odd), odd);
}

TEST(LayoutSearchTest, EveryLayoutIsCounted) {
  const LayoutSearch search = SearchLayouts(Llama8b(), ClusterWith("H100", 2));
  int64_t lost = 0;
  for (const auto& [reason, count] : search.lost) lost += count;
  EXPECT_EQ(lost + 1, search.tried);
  EXPECT_GT(search.lost.at("is slower"), 0);
  EXPECT_GT(search.lost.at("needs more memory than the device has"), 0);
}

TEST(LayoutSearchTest, TheParetoListTradesTimeForMemory) {
  const LayoutSearch search = SearchLayouts(Llama8b(), ClusterWith("H200", 1));
  ASSERT_GT(search.pareto.size(), 3u);
  for (size_t i = 1; i < search.pareto.size(); ++i) {
    EXPECT_GE(search.pareto[i].step.Total(), search.pareto[i - 1].step.Total());
    EXPECT_LT(search.pareto[i].memory.Total(), search.pareto[i - 1].memory.Total());
  }
}

// Compares a device with a copy that has more memory.
TEST(LayoutSearchTest, MoreMemoryNeverMakesAPlanWorse) {
  double before = 0;
  for (const int64_t gigabytes : {192, 141, 96, 80, 64, 48}) {
    DeviceRating rating = *FindDevice("H100");
    rating.memory_bytes = gigabytes * 1'000'000'000;
    DeviceSpec spec = *FindDeviceSpec("H100");
    spec.rating = &rating;
    const Cluster cluster = {&spec, 1, 8, *FindNetwork("ndr")};
    const LayoutSearch search = SearchLayouts(Llama8b(), cluster);
    if (!search.best.has_value()) continue;
    EXPECT_GE(search.best->step.Total(), before) << gigabytes << " GB";
    before = search.best->step.Total();
  }
  EXPECT_GT(before, 0);
}

TEST(LayoutSearchTest, KeepsSettingsThatAreNoneOfItsBusiness) {
  RunConfig config = Llama8b();
  config.layout.sequence_parallel = false;
  config.layout.cp_comm_type = ContextExchange::kAllGather;
  const LayoutSearch search = SearchLayouts(config, ClusterWith("H100", 2));
  ASSERT_TRUE(search.best.has_value());
  EXPECT_FALSE(search.best->layout.sequence_parallel);
  EXPECT_EQ(search.best->layout.cp_comm_type, ContextExchange::kAllGather);
}

// With this batch and these sizes, only context parallelism uses all 64 GPUs.
TEST(LayoutSearchTest, ContextParallelismNeedsABackendThatSupportsIt) {
  const RunConfig run = Settings(Llama(1, 4096, 14336, 32), 8192, 8, 1).config;
  const Cluster cluster = ClusterWith("H100", 64, 1);
  const LayoutSearch search = SearchLayouts(run, cluster);
  ASSERT_TRUE(search.best.has_value());
  EXPECT_GE(search.best->layout.cp, 8);
  RunConfig refused = run;
  refused.train.attention_backend = AttentionBackend::kSdpa;
  refused.train.deterministic = false;  // No layout makes SDPA reproducible.
  EXPECT_FALSE(SearchLayouts(refused, cluster).best.has_value());
  refused.train.attention_backend = AttentionBackend::kCudnn;
  EXPECT_TRUE(SearchLayouts(refused, cluster).best.has_value());
  refused.data.reset_attention_mask = true;
  const LayoutSearch none = SearchLayouts(refused, cluster);
  EXPECT_FALSE(none.best.has_value());
  EXPECT_GT(none.lost.at("breaks a rule of train.attention_backend"), 0);
  const LayoutProblem problem = ProblemOf(none, refused, cluster);
  EXPECT_NE(problem.message.find("breaks a rule of train.attention_backend"), std::string::npos)
      << problem.message;
}

TEST(LayoutSearchTest, ATooLargeModelNamesTheLeanestLayoutAndTheFewestNodes) {
  const Cluster cluster = ClusterWith("A100", 2);
  const LayoutSearch search = SearchLayouts(Llama405b(), cluster);
  EXPECT_FALSE(search.best.has_value());
  ASSERT_TRUE(search.leanest.has_value());
  EXPECT_GT(search.leanest->memory.Total(), 80e9);
  const std::optional<int64_t> nodes = FewestNodes(Llama405b(), cluster, 2048).fewest_nodes;
  ASSERT_TRUE(nodes.has_value());
  EXPECT_TRUE(SearchLayouts(Llama405b(), ClusterWith("A100", *nodes)).best.has_value());
  EXPECT_FALSE(SearchLayouts(Llama405b(), ClusterWith("A100", *nodes - 1)).best.has_value());
  const LargerCluster none = FewestNodes(Llama405b(), cluster, *nodes - 1);
  EXPECT_EQ(none.fewest_nodes, std::nullopt);
  EXPECT_EQ(none.looked_at, *nodes - 1);
}

TEST(LayoutSearchTest, ABatchThatNothingDividesBreaksARule) {
  const RunConfig config = Settings(Llama(2, 256, 512, 2), 1022, 3, 1).config;
  const LayoutSearch search = SearchLayouts(config, ClusterWith("H100", 11));
  EXPECT_FALSE(search.best.has_value());
  EXPECT_FALSE(search.leanest.has_value()) << "11 divides nothing of this run";
}

// A cluster of 15,120 devices and model sizes with many divisors allow millions of layouts. A full
// search would take minutes.
TEST(LayoutSearchTest, ASearchWithoutEndIsAbandoned) {
  RunConfig config = Settings(Llama(720, 8064, 30240, 63), 120960, 15120, 1).config;
  const LayoutSearch search = SearchLayouts(config, ClusterWith("B200", 15, 1008));
  EXPECT_TRUE(search.is_too_large);
  EXPECT_FALSE(search.best.has_value());
  const LayoutProblem problem = ProblemOf(search, config, ClusterWith("B200", 15, 1008));
  EXPECT_NE(problem.message.find("the search stopped, because there are too many possible layouts"),
            std::string::npos)
      << problem.message;
}

// No cluster fits: each node has one GPU, and
// no GPU can hold a block. The search must end
// after considering all 16,384 cluster sizes.
TEST(LayoutSearchTest, ALookForAClusterThatIsNowhereEnds) {
  const Cluster cluster = ClusterWith("A10G", 1, 1);
  const LargerCluster larger = FewestNodes(Llama405b(), cluster, 16384);
  EXPECT_EQ(larger.fewest_nodes, std::nullopt);
  EXPECT_GT(larger.looked_at, 100);
}

// PeakMemory computes only the first and the last stage, while the contract computes all stages.
TEST(LayoutSearchTest, ThePeakIsOnTheFirstOrTheLastStage) {
  for (const int64_t layers : {12, 18, 31, 126}) {
    for (const int64_t stages : {1, 2, 3, 4, 6, 12}) {
      for (const int64_t chunks : {1, 2, 3}) {
        if (stages * chunks > layers) continue;
        for (const bool zero_bubble : {false, true}) {
          RunConfig config =
              Settings(Llama(layers, 2048, 7168, 16), 2048, 48, 1).Pp(stages).Vpp(chunks).config;
          config.layout.zero_bubble = zero_bubble;
          int64_t stage = 0;
          EXPECT_EQ(PeakMemory(config, stage).Total(), PredictTrainingMemory(config).Total())
              << layers << " layers, " << stages << " stages, " << chunks << " chunks";
          EXPECT_EQ(PredictStageMemory(config, stage).Total(),
                    PredictTrainingMemory(config).Total());
        }
      }
    }
  }
}

// The search takes 0.4 to 0.8 s (tests/bench). The bound is higher to allow for sanitizers and for
// other work on the machine.
TEST(LayoutSearchTest, ALargeClusterIsSearchedQuickly) {
  const auto begin = std::chrono::steady_clock::now();
  const LayoutSearch search = SearchLayouts(Llama405b(), ClusterWith("H100", 128));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(search.best.has_value());
  EXPECT_GT(search.tried, 100'000);
  EXPECT_LT(seconds.count(), 10);
  std::printf("405B on 1,024 GPUs: %lld layouts in %.2f s\n", static_cast<long long>(search.tried),
              seconds.count());
}

}  // namespace
}  // namespace trainyard::planner
