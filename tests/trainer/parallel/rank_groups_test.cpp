#include "trainer/parallel/rank_groups.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/trainer/parallel/run_ranks.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using Ranks = std::vector<int64_t>;

LayoutConfig Layout(int64_t tp, int64_t cp, int64_t dp, int64_t pp) {
  LayoutConfig layout;
  layout.tp = tp;
  layout.cp = cp;
  layout.dp = dp;
  layout.pp = pp;
  return layout;
}

// Returns the members of every group that a rank connects, by group name.
std::map<std::string, Ranks> GroupsOf(const LayoutConfig& layout, int64_t rank,
                                      const GroupedParts& parts = {}) {
  std::map<std::string, Ranks> groups;
  ConnectRankGroups(Mesh(layout), rank, layout, parts, [&](const CommunicatorGroup& group) {
    EXPECT_EQ(group.my_rank, rank);
    EXPECT_TRUE(groups.emplace(group.name, group.ranks).second) << group.name << " comes twice";
    return MakeSingleProcessCommunicator();
  });
  return groups;
}

TEST(RankGroupsTest, OneGroupAnAxis) {
  const auto groups = GroupsOf(Layout(2, 2, 2, 2), 5);
  EXPECT_EQ(groups.at("world0").size(), 16u);
  EXPECT_EQ(groups.at("tp4"), (Ranks{4, 5}));
  EXPECT_EQ(groups.at("cp5"), (Ranks{5, 7}));
  EXPECT_EQ(groups.at("shard1"), (Ranks{1, 3, 5, 7})) << "cp * dp";
  EXPECT_EQ(groups.at("replica5"), (Ranks{5}));
  EXPECT_EQ(groups.at("act5to13"), (Ranks{5, 13}));
  EXPECT_EQ(groups.at("grad13to5"), (Ranks{5, 13}));
  EXPECT_EQ(groups.count("tied5"), 1u);
  EXPECT_EQ(groups.size(), 8u);
}

TEST(RankGroupsTest, HybridShardingSplitsTheRanksThatAreAlike) {
  LayoutConfig layout = Layout(2, 1, 4, 1);
  layout.zero = 3;
  layout.zero_size = 2;
  const auto groups = GroupsOf(layout, 6);
  EXPECT_EQ(groups.at("shard4"), (Ranks{4, 6})) << "neighbours share one copy";
  EXPECT_EQ(groups.at("replica2"), (Ranks{2, 6}));
}

TEST(RankGroupsTest, ChunksOfAStageNeedLinksAroundTheRing) {
  LayoutConfig layout = Layout(1, 1, 1, 3);
  EXPECT_EQ(GroupsOf(layout, 0).count("act2to0"), 0u);
  layout.vpp = 2;
  const auto groups = GroupsOf(layout, 0);
  EXPECT_EQ(groups.at("act2to0"), (Ranks{0, 2}));
  EXPECT_EQ(groups.at("grad0to2"), (Ranks{0, 2}));
}

TEST(RankGroupsTest, EndsOfThePipelineShareATiedEmbedding) {
  const LayoutConfig layout = Layout(2, 1, 1, 3);
  EXPECT_EQ(GroupsOf(layout, 1, {.has_tied_embedding = true}).at("tied1"), (Ranks{1, 5}));
  EXPECT_EQ(GroupsOf(layout, 5, {.has_tied_embedding = true}).at("tied1"), (Ranks{1, 5}));
  EXPECT_EQ(GroupsOf(layout, 3, {.has_tied_embedding = true}).at("tied3"), (Ranks{3}));
  EXPECT_EQ(GroupsOf(layout, 1, {.has_tied_embedding = false}).at("tied1"), (Ranks{1}));
}

TEST(RankGroupsTest, ExpertsDivideTheRanksOfAStageInTheirOwnWay) {
  LayoutConfig layout = Layout(2, 1, 4, 2);
  layout.ep = 4;
  layout.etp = 1;
  const auto groups = GroupsOf(layout, 5, {.has_experts = true});
  EXPECT_EQ(groups.at("expert4"), (Ranks{4, 5, 6, 7}));
  EXPECT_EQ(groups.at("expert_shard1"), (Ranks{1, 5}));
  EXPECT_EQ(groups.at("expert_replica5"), (Ranks{5}));
  EXPECT_EQ(groups.at("shard1"), (Ranks{1, 3, 5, 7}));
  EXPECT_EQ(GroupsOf(layout, 5).count("expert4"), 0u) << "a dense model";
}

TEST(RankGroupsTest, ExpertsOnEveryRankNeedNoOtherGroups) {
  const auto groups = GroupsOf(Layout(1, 2, 2, 1), 3, {.has_experts = true});
  EXPECT_EQ(groups.at("expert3"), (Ranks{3}));
  EXPECT_EQ(groups.count("expert_shard0"), 0u) << "the same ranks as shard0";
}

TEST(RankGroupsTest, HybridShardingSplitsTheRanksWithEqualExperts) {
  LayoutConfig layout = Layout(1, 1, 8, 1);
  layout.ep = 2;
  layout.zero = 1;
  layout.zero_size = 2;
  const auto groups = GroupsOf(layout, 5, {.has_experts = true});
  EXPECT_EQ(groups.at("expert_shard5"), (Ranks{5, 7}));
  EXPECT_EQ(groups.at("expert_replica1"), (Ranks{1, 5}));
}

// Each rank connects its groups one after another. The orders of different ranks must not cause a
// circular wait.
TEST(RankGroupsTest, RealGroupsConnectWithoutADeadlock) {
  LayoutConfig layout = Layout(2, 1, 1, 3);
  layout.vpp = 2;
  const int64_t port = FreePort();
  RunThreads(6, [&](int64_t rank) {
    Rendezvous rendezvous(Environment(rank, 6, port), std::chrono::seconds(30));
    const RankGroups groups =
        ConnectRankGroups(Mesh(layout), rank, layout, {.has_tied_embedding = true},
                          [&](const CommunicatorGroup& group) {
                            return ConnectGroup(&rendezvous, group, torch::kCPU);
                          });
    EXPECT_EQ(groups.links.activations_from->size(), 2);
    const torch::Tensor sum = torch::ones({1});
    groups.world->AllReduce(sum).Wait();
    EXPECT_EQ(sum.item<float>(), 6);
    groups.world->Barrier();
  });
}

// After a lost peer, a rank may continue in the same process with new groups.
TEST(RankGroupsTest, GroupsConnectAgainAfterAnAbort) {
  const LayoutConfig layout = Layout(2, 1, 1, 1);
  const int64_t ports[] = {FreePort(), FreePort()};
  RunThreads(2, [&](int64_t rank) {
    for (const int64_t port : ports) {
      Rendezvous rendezvous(Environment(rank, 2, port), std::chrono::seconds(30));
      const RankGroups groups =
          ConnectRankGroups(Mesh(layout), rank, layout, {}, [&](const CommunicatorGroup& group) {
            return ConnectGroup(&rendezvous, group, torch::kCPU);
          });
      const torch::Tensor sum = torch::ones({1});
      groups.tensor->AllReduce(sum).Wait();
      EXPECT_EQ(sum.item<float>(), 2);
      groups.world->Barrier();
      ForEachGroup(groups, [](Communicator& group) { group.Abort(); });
      EXPECT_THROW(groups.tensor->AllReduce(sum).Wait(), TrainerError);
    }
  });
}

}  // namespace
}  // namespace trainyard::trainer
