#include "trainer/checkpoint/box.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace trainyard::trainer {
namespace {

using testing::ElementsAre;
using testing::FieldsAre;
using testing::HasSubstr;

std::vector<std::tuple<int64_t, int64_t, int64_t>> Runs(const Box& part, const Box& from,
                                                        const Box& to) {
  std::vector<std::tuple<int64_t, int64_t, int64_t>> runs;
  ForEachRun(part, from, to, [&](int64_t a, int64_t b, int64_t n) { runs.emplace_back(a, b, n); });
  return runs;
}

TEST(BoxTest, CountsElementsAndRefusesOverflow) {
  EXPECT_EQ(ElementsOf({}), 1);
  EXPECT_EQ(ElementsOf({3, 0, 5}), 0);
  EXPECT_EQ(ElementsOf({3, 4}), 12);
  EXPECT_EQ(ElementsOf({3, -1}), std::nullopt);
  EXPECT_EQ(ElementsOf({int64_t{1} << 40, int64_t{1} << 40}), std::nullopt);
}

TEST(BoxTest, KnowsWhatIsInside) {
  EXPECT_TRUE(IsInside({{0, 2}, {3, 2}}, {3, 4}));
  EXPECT_FALSE(IsInside({{0, 3}, {3, 2}}, {3, 4}));
  EXPECT_FALSE(IsInside({{-1, 0}, {1, 1}}, {3, 4}));
  EXPECT_FALSE(IsInside({{0}, {3}}, {3, 4}));
  EXPECT_FALSE(IsInside({{std::numeric_limits<int64_t>::max()}, {3}}, {4}));
  EXPECT_TRUE(IsInside({{}, {}}, {}));
}

TEST(BoxTest, IntersectionIsWhatBothHold) {
  const std::optional<Box> both = Intersect({{0, 2}, {4, 4}}, {{2, 0}, {4, 3}});
  ASSERT_TRUE(both);
  EXPECT_THAT(both->offset, ElementsAre(2, 2));
  EXPECT_THAT(both->shape, ElementsAre(2, 1));
  EXPECT_FALSE(Intersect({{0}, {2}}, {{2}, {2}}));
}

TEST(BoxTest, RunsAreAsLongAsBothBoxesAllow) {
  const Box whole = {{0, 0, 0}, {2, 3, 4}};
  EXPECT_THAT(Runs(whole, whole, whole), ElementsAre(FieldsAre(0, 0, 24)));
  const Box row = {{1, 1, 0}, {1, 2, 4}};
  EXPECT_THAT(Runs(row, whole, row), ElementsAre(FieldsAre(16, 0, 8)));
  const Box column = {{0, 0, 1}, {1, 3, 2}};
  EXPECT_THAT(Runs(column, whole, column),
              ElementsAre(FieldsAre(1, 0, 2), FieldsAre(5, 2, 2), FieldsAre(9, 4, 2)));
  const Box scalar = {{}, {}};
  EXPECT_THAT(Runs(scalar, scalar, scalar), ElementsAre(FieldsAre(0, 0, 1)));
}

TEST(BoxTest, ElementsAreNumberedRowMajor) {
  const Box box = {{2, 0, 5}, {2, 3, 4}};
  EXPECT_EQ(NumberOf({2, 0, 5}, box), 0);
  EXPECT_EQ(NumberOf({3, 1, 7}, box), 12 + 4 + 2);
  EXPECT_THAT(IndexOf(12 + 4 + 2, box), ElementsAre(3, 1, 7));
  for (int64_t number = 0; number < 24; ++number) {
    EXPECT_EQ(NumberOf(IndexOf(number, box), box), number);
  }
  EXPECT_EQ(NumberOf({}, {}), 0);
  EXPECT_THAT(IndexOf(0, {}), testing::IsEmpty());
}

// Tries every range of some tensors. The boxes must be consecutive and contain exactly the elements
// of the range.
TEST(BoxTest, RangesAreFewContiguousBoxes) {
  for (const Extents& shape : {Extents{}, Extents{7}, Extents{4, 5}, Extents{3, 1, 4}}) {
    const int64_t elements = *ElementsOf(shape);
    for (int64_t first = 0; first <= elements; ++first) {
      for (int64_t length = 0; first + length <= elements; ++length) {
        const std::vector<Box> boxes = BoxesOfRange(shape, first, length);
        EXPECT_LE(boxes.size(), shape.empty() ? 1 : 2 * shape.size() - 1);
        int64_t next = first;
        for (const Box& box : boxes) {
          ASSERT_TRUE(IsInside(box, shape));
          ForEachRun(box, {Extents(shape.size(), 0), shape}, box,
                     [&](int64_t from, int64_t, int64_t count) {
                       EXPECT_EQ(from, next);
                       next += count;
                     });
        }
        EXPECT_EQ(next, first + length);
      }
    }
  }
}

TEST(BoxTest, CoverageNamesTheFault) {
  EXPECT_EQ(CoverageFault({{{0, 0}, {2, 2}}, {{0, 2}, {2, 2}}}, {2, 4}), "");
  EXPECT_EQ(CoverageFault({{{}, {}}}, {}), "");
  EXPECT_EQ(CoverageFault({}, {0, 4}), "");
  EXPECT_THAT(CoverageFault({{{0, 0}, {2, 2}}}, {2, 4}), HasSubstr("only 4 of 8"));
  EXPECT_THAT(CoverageFault({{{0, 0}, {2, 3}}, {{0, 2}, {2, 1}}}, {2, 4}),
              HasSubstr("contain the same elements"));
  EXPECT_THAT(CoverageFault({{{0}, {4}}, {{2}, {2}}}, {4}), HasSubstr("contain the same elements"));
  EXPECT_THAT(CoverageFault({{{}, {}}, {{}, {}}}, {}), HasSubstr("contain the same elements"));
  EXPECT_THAT(CoverageFault({{{3}, {2}}}, {4}), HasSubstr("outside"));
}

}  // namespace
}  // namespace trainyard::trainer
