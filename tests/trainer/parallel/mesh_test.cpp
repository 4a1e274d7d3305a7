#include "trainer/parallel/mesh.h"

#include <gtest/gtest.h>

#include <set>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using Ranks = std::vector<int64_t>;

LayoutConfig Layout(int64_t tp, int64_t cp, int64_t ep, int64_t dp, int64_t pp) {
  LayoutConfig layout;
  layout.tp = tp;
  layout.cp = cp;
  layout.ep = ep;
  layout.dp = dp;
  layout.pp = pp;
  return layout;
}

const LayoutConfig kShapes[] = {Layout(1, 1, 1, 1, 1), Layout(1, 1, 1, 8, 1),
                                Layout(2, 1, 1, 4, 1), Layout(2, 2, 1, 2, 2),
                                Layout(4, 1, 2, 4, 2), Layout(1, 2, 4, 8, 3)};

TEST(MeshTest, RankAndCoordinatesAreInverse) {
  for (const LayoutConfig& layout : kShapes) {
    const Mesh mesh(layout);
    EXPECT_EQ(mesh.grid().size(), layout.tp * layout.cp * layout.dp * layout.pp);
    for (int64_t rank = 0; rank < mesh.grid().size(); ++rank) {
      EXPECT_EQ(mesh.grid().RankAt(mesh.grid().CoordinatesOf(rank)), rank);
    }
  }
}

TEST(MeshTest, EachAxisSplitsTheWorldIntoGroups) {
  for (const LayoutConfig& layout : kShapes) {
    const Mesh mesh(layout);
    for (const Axis axis : {Axis::kTensor, Axis::kContext, Axis::kData, Axis::kPipeline}) {
      std::set<Ranks> groups;
      for (int64_t rank = 0; rank < mesh.grid().size(); ++rank) {
        const Ranks group = mesh.RanksAlong(rank, {axis});
        EXPECT_EQ(static_cast<int64_t>(group.size()), mesh.grid().Extent(axis));
        EXPECT_EQ(std::count(group.begin(), group.end(), rank), 1);
        groups.insert(group);
      }
      EXPECT_EQ(static_cast<int64_t>(groups.size()), mesh.grid().size() / mesh.grid().Extent(axis));
    }
  }
}

TEST(MeshTest, TensorGroupsAreNeighboursAndPipelineStagesFarApart) {
  const Mesh mesh(Layout(2, 1, 1, 2, 2));
  EXPECT_EQ(mesh.RanksAlong(5, {Axis::kTensor}), (Ranks{4, 5}));
  EXPECT_EQ(mesh.StageOf(5), 1);
  EXPECT_EQ(mesh.RanksAlong(5, {Axis::kPipeline}), (Ranks{1, 5}));
}

TEST(MeshTest, ExpertsAreSpreadOverDataParallelism) {
  const Mesh mesh(Layout(1, 1, 2, 4, 2));
  EXPECT_EQ(mesh.RanksSharingExperts(3), (Ranks{2, 3}));
  EXPECT_EQ(mesh.RanksWithSameExperts(3), (Ranks{1, 3}));
  EXPECT_EQ(mesh.RanksSharingExperts(5), (Ranks{4, 5})) << "the second stage";
  EXPECT_EQ(mesh.RanksWithSameExperts(5), (Ranks{5, 7}));
  EXPECT_EQ(mesh.DataParallelIndex(3), 3);
}

TEST(MeshTest, UndividedExpertsAreSpreadOverAllRanksOfAStage) {
  LayoutConfig layout = Layout(2, 1, 4, 4, 1);
  layout.etp = 1;
  const Mesh mesh(layout);
  EXPECT_EQ(mesh.RanksSharingExperts(5), (Ranks{4, 5, 6, 7}));
  EXPECT_EQ(mesh.RanksWithSameExperts(5), (Ranks{1, 5}));
}

TEST(MeshTest, DividedExpertsKeepTheirPartsOnNeighbours) {
  const Mesh mesh(Layout(2, 1, 2, 4, 1));
  EXPECT_EQ(mesh.expert_sizes().etp, 2);
  EXPECT_EQ(mesh.RanksSharingExperts(5), (Ranks{4, 5, 6, 7}));
  EXPECT_EQ(mesh.RanksWithSameExperts(5), (Ranks{1, 5}));
}

TEST(MeshTest, RefusesExpertsThatDoNotDivideDataParallelism) {
  try {
    Mesh mesh(Layout(1, 1, 3, 4, 1));
    FAIL();
  } catch (const TrainerError& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadConfig);
  }
}

}  // namespace
}  // namespace trainyard::trainer
