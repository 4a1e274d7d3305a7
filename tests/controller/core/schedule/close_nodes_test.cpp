#include "controller/core/schedule/close_nodes.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Adds `count` nodes, called NAME0, NAME1 and so on, below a path.
void AddCandidates(const std::string& name, int count, const std::vector<int>& path,
                   std::vector<CloseNode>& nodes) {
  for (int i = 0; i < count; ++i) nodes.push_back({absl::StrCat(name, i), path});
}

TEST(CloseNodesTest, UsesTheSmallestGroupThatHasEnoughNodes) {
  std::vector<CloseNode> nodes;
  AddCandidates("a", 4, {0, 1}, nodes);
  AddCandidates("b", 2, {0, 2}, nodes);
  AddCandidates("c", 3, {3, 4}, nodes);
  EXPECT_THAT(ChooseCloseNodes(nodes, 2, {}), ElementsAre("b0", "b1")) << "the smallest leaf";
  EXPECT_THAT(ChooseCloseNodes(nodes, 3, {}), ElementsAre("c0", "c1", "c2"));
  EXPECT_THAT(ChooseCloseNodes(nodes, 4, {}), ElementsAre("a0", "a1", "a2", "a3"));
  EXPECT_THAT(ChooseCloseNodes(nodes, 5, {}), ElementsAre("a0", "a1", "a2", "a3", "b0"));
  EXPECT_EQ(ChooseCloseNodes(nodes, 9, {}).size(), 9U);
  EXPECT_EQ(ChooseCloseNodes(nodes, 10, {}).size(), 9U);
  EXPECT_THAT(ChooseCloseNodes({}, 1, {}), IsEmpty());
}

// 15 leaves of 1 to 11 nodes, of which only two can hold 8 nodes.
TEST(CloseNodesTest, GroupsOfUnequalSizesAreUsedByTheirRealSizes) {
  std::vector<CloseNode> nodes;
  const int sizes[] = {4, 1, 7, 3, 11, 2, 4, 5, 1, 8, 3, 2, 5, 4, 4};
  for (int i = 0; i < 15; ++i) AddCandidates(absl::StrCat("l", i, "-"), sizes[i], {i}, nodes);
  for (const std::string& id : ChooseCloseNodes(nodes, 8, {})) EXPECT_EQ(id.substr(0, 3), "l9-");
  for (const std::string& id : ChooseCloseNodes(nodes, 9, {})) EXPECT_EQ(id.substr(0, 3), "l4-");
  for (const std::string& id : ChooseCloseNodes(nodes, 6, {})) EXPECT_EQ(id.substr(0, 3), "l2-");
  // 12 nodes need two groups: the largest, and the smallest that has the last node.
  EXPECT_EQ(ChooseCloseNodes(nodes, 12, {}).back(), "l1-0");
}

TEST(CloseNodesTest, NodesOutsideOfAllGroupsComeLast) {
  std::vector<CloseNode> nodes;
  AddCandidates("x", 3, {}, nodes);
  AddCandidates("a", 3, {0}, nodes);
  AddCandidates("s", 2, {1}, nodes);
  AddCandidates("t", 2, {1, 2}, nodes);
  EXPECT_THAT(ChooseCloseNodes(nodes, 3, {}), ElementsAre("a0", "a1", "a2"));
  EXPECT_THAT(ChooseCloseNodes(nodes, 2, {}), ElementsAre("t0", "t1"));
  EXPECT_THAT(ChooseCloseNodes(nodes, 4, {}), UnorderedElementsAre("s0", "s1", "t0", "t1"));
}

TEST(CloseNodesTest, ReplacementsAreCloseToTheNodesThatRemain) {
  std::vector<CloseNode> nodes;
  AddCandidates("a", 1, {0, 1}, nodes);
  AddCandidates("b", 3, {0, 2}, nodes);
  AddCandidates("c", 1, {3, 4}, nodes);
  EXPECT_THAT(ChooseCloseNodes(nodes, 1, {{0, 2}}), ElementsAre("b0"));
  EXPECT_THAT(ChooseCloseNodes(nodes, 1, {{3, 4}, {3, 4}}), ElementsAre("c0"));
  EXPECT_THAT(ChooseCloseNodes(nodes, 2, {{0, 1}}), ElementsAre("b0", "b1"));
  EXPECT_THAT(ChooseCloseNodes(nodes, 1, {{0, 1}, {3, 4}}), ElementsAre("a0"))
      << "no group in common";
}

}  // namespace
}  // namespace trainyard::controller
