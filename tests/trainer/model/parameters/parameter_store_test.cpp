#include "trainer/model/parameters/parameter_store.h"

#include <gtest/gtest.h>

#include "tests/trainer/model/stored_slices.h"

namespace trainyard::trainer {
namespace {

constexpr int64_t kAlignment = ParameterLayout::kAlignment;

// Returns two groups. The first has a vector without weight decay, and a matrix with weight decay
// and two logical parts. The second has one matrix.
std::vector<GroupDeclaration> TwoGroups() {
  return {{"block",
           {{{WholeLogicalTensor("norm", {3}, 0)}, false},
            {{WholeLogicalTensor("a", {2, 4}, 1), WholeLogicalTensor("b", {1, 4}, 1)}, true}}},
          {"embedding", {{{WholeLogicalTensor("table", {5, 4}, 1)}, true}}}};
}

TEST(ParameterStoreTest, StacksLogicalTensorsIntoOneParameter) {
  ParameterStore store(TwoGroups(), torch::kFloat32, torch::kCPU, 1);
  ASSERT_EQ(store.slices().size(), 4u);
  EXPECT_EQ(store.Value(1).sizes(), torch::IntArrayRef({3, 4}));
  for (const StoredSlice& slice : store.slices()) {
    const torch::Tensor part = MasterOf(store, slice);
    if (slice.logical.name == "a") {
      EXPECT_TRUE(part.equal(store.Value(1).narrow(0, 0, 2)));
    }
    if (slice.logical.name == "b") {
      EXPECT_TRUE(part.equal(store.Value(1).narrow(0, 2, 1)));
    }
  }
  EXPECT_EQ(ElementCount(store), 35);
}

TEST(ParameterStoreTest, GroupsFollowEachOtherWithDecayingParametersFirst) {
  ParameterStore store(TwoGroups(), torch::kFloat32, torch::kCPU, 1);
  ASSERT_EQ(store.groups().size(), 2u);
  const ParameterGroup& block = store.groups()[0];
  EXPECT_EQ(block.decaying.first, 0);
  EXPECT_EQ(block.decaying.length, kAlignment);
  EXPECT_EQ(block.constant.first, kAlignment);
  EXPECT_EQ(block.constant.length, kAlignment);
  EXPECT_EQ(block.all.length, 2 * kAlignment);
  const ParameterGroup& embedding = store.groups()[1];
  EXPECT_EQ(embedding.all.first, 2 * kAlignment);
  EXPECT_EQ(embedding.constant.length, 0);
  EXPECT_EQ(store.elements(), 3 * kAlignment);
  // Parameter 0 was declared as the vector.
  EXPECT_TRUE(store.Value(0).equal(torch::ones({3})));
  EXPECT_EQ(store.Value(0).data_ptr<float>(), store.values().data_ptr<float>() + kAlignment);
}

// The parts of rank `index` of three that share the optimizer state.
StoreParts Thirds(int64_t index) {
  const KeptParts parts{.owned = {index, 3}, .stored = {index, 3}};
  return {.zero = 1, .kept = {.dense = parts}};
}

// Another rank counts the slice `k`, so no counted range may include it. Ranges may include
// padding, even padding that is longer than `k`.
TEST(ParameterStoreTest, OnlyPaddingLiesWithinACountedRange) {
  LogicalTensorSlice foreign = LogicalVector("k", 4, 0);
  foreign.is_first_holder = false;
  const ParameterLayout layout(
      {{"block",
        {{{LogicalVector("q", 8, 0), foreign, LogicalVector("v", 4, 0)}, false},
         {{LogicalVector("o", 8, 0)}, false}}}},
      {.dense = 1, .expert = 1});
  const std::vector<ElementRange>& counted = layout.groups()[0].counted;
  ASSERT_EQ(counted.size(), 2u);
  EXPECT_EQ(counted[0].first, 0);
  EXPECT_EQ(counted[0].length, 8);
  EXPECT_EQ(counted[1].first, 12);
  EXPECT_EQ(counted[1].end(), kAlignment + 8);
}

TEST(ParameterStoreTest, PaddingStartsAtZero) {
  ParameterStore store(TwoGroups(), torch::kFloat32, torch::kCPU, 1);
  EXPECT_EQ(store.values().narrow(0, 12, kAlignment - 12).abs().sum().item<float>(), 0);
}

TEST(ParameterStoreTest, SixteenBitValuesKeepTheirMasterWeightsExactly) {
  ParameterStore single(TwoGroups(), torch::kFloat32, torch::kCPU, 1);
  ParameterStore half(TwoGroups(), torch::kBFloat16, torch::kCPU, 1);
  EXPECT_EQ(half.Value(1).scalar_type(), torch::kBFloat16);
  EXPECT_EQ(half.Gradient(1).scalar_type(), torch::kFloat32);
  for (size_t i = 0; i < half.slices().size(); ++i) {
    EXPECT_TRUE(MasterOf(half, half.slices()[i]).equal(MasterOf(single, single.slices()[i])));
  }
  const StoredSlice& slice = half.slices()[0];
  const torch::Tensor master = torch::randn(slice.logical.shape);
  half.SetMaster(slice, master.view({-1}));
  EXPECT_TRUE(MasterOf(half, slice).equal(master));
}

// The master weights of fp16 are separate, so values outside fp16's range or precision are kept.
TEST(ParameterStoreTest, MasterWeightsOfFp16AreWhole) {
  ParameterStore single(TwoGroups(), torch::kFloat32, torch::kCPU, 1);
  ParameterStore half(TwoGroups(), torch::kHalf, torch::kCPU, 1);
  EXPECT_EQ(half.Gradient(1).scalar_type(), torch::kFloat32);
  EXPECT_FALSE(half.low_bits().defined());
  EXPECT_TRUE(half.masters().equal(single.values()));
  EXPECT_TRUE(half.values().equal(single.values().to(torch::kHalf)));
  const StoredSlice& slice = half.slices()[0];
  const torch::Tensor master = torch::randn(slice.logical.shape).mul_(1e-9);
  half.SetMaster(slice, master.view({-1}));
  EXPECT_TRUE(MasterOf(half, slice).equal(master));
}

// An evaluation needs the values but no memory for gradients or optimizer state.
TEST(ParameterStoreTest, WithoutTrainingThereAreValuesOnly) {
  const torch::Tensor rows = torch::randn({2, 3});
  for (const auto type : {torch::kFloat32, torch::kBFloat16, torch::kHalf}) {
    ParameterStore trained(TwoGroups(), type, torch::kCPU, 1);
    ParameterStore store(TwoGroups(), type, torch::kCPU, 1, {.trains = false});
    EXPECT_FALSE(store.gradients().defined());
    EXPECT_FALSE(store.low_bits().defined());
    EXPECT_FALSE(store.masters().defined());
    EXPECT_TRUE(store.values().equal(trained.values())) << type;
    for (ParameterStore* each : {&trained, &store}) {
      each->SetMaster(each->slices()[1], {.first = 1, .stride = 4}, rows);
    }
    EXPECT_TRUE(store.values().equal(trained.values())) << "rounded alike, " << type;
  }
}

TEST(ParameterStoreTest, RowsOfMasterWeightsGoToTheirPlaces) {
  const std::vector<GroupDeclaration> groups = {
      {"wide", {{{WholeLogicalTensor("w", {4, 6}, 1)}, true}}}};
  for (const auto type : {torch::kFloat32, torch::kBFloat16, torch::kHalf}) {
    ParameterStore store(groups, type, torch::kCPU, 1);
    const StoredSlice& slice = store.slices()[0];
    torch::Tensor expected = MasterOf(store, slice).clone();
    const torch::Tensor rows = torch::randn({3, 2});
    expected.narrow(0, 1, 3).narrow(1, 2, 2).copy_(rows);
    store.SetMaster(slice, {.first = 1 * 6 + 2, .stride = 6}, rows);
    EXPECT_TRUE(MasterOf(store, slice).equal(expected)) << type;
  }
}

TEST(ParameterStoreTest, EachGroupIsSplitIntoEqualPartsOfWhichOneIsOwned) {
  int64_t next = 0;
  for (int64_t index = 0; index < 3; ++index) {
    ParameterStore store(TwoGroups(), torch::kBFloat16, torch::kCPU, 1, Thirds(index));
    const ParameterGroup& block = store.groups()[0];
    EXPECT_EQ(block.all.length, 3 * kAlignment) << "two parameters, and padding";
    EXPECT_EQ(store.groups()[1].all.first, block.all.length);
    EXPECT_EQ(store.OwnedOf(0).first, next);
    next = store.OwnedOf(0).end();
    EXPECT_EQ(store.state_elements(), 2 * kAlignment) << "a part of each group";
    EXPECT_EQ(store.low_bits().numel(), store.state_elements());
    EXPECT_EQ(store.State(store.low_bits(), 1, store.OwnedOf(1)).data_ptr<int16_t>(),
              store.low_bits().data_ptr<int16_t>() + kAlignment);
  }
  EXPECT_EQ(next, 3 * kAlignment);
}

// Experts are on fewer ranks than other parameters, so a rank owns a larger part of the experts.
TEST(ParameterStoreTest, EachKindOfGroupHasItsOwnParts) {
  const std::vector<GroupDeclaration> groups = {
      {"layer 0 experts",
       {{{LogicalVector("up", 4 * kAlignment, 0)}, true}},
       ParameterKind::kExpert},
      {"layer 0", {{{LogicalVector("norm", 4 * kAlignment, 0)}, false}}}};
  StoreParts parts{.zero = 1};
  parts.kept.dense = {.owned = {3, 4}, .stored = {3, 4}};
  parts.kept.expert = {.owned = {1, 2}, .stored = {1, 2}};
  ParameterStore store(groups, torch::kBFloat16, torch::kCPU, 1, parts);
  EXPECT_EQ(store.OwnedOf(0).first, 2 * kAlignment);
  EXPECT_EQ(store.OwnedOf(0).length, 2 * kAlignment);
  EXPECT_EQ(store.OwnedOf(1).first, 7 * kAlignment);
  EXPECT_EQ(store.OwnedOf(1).length, kAlignment);
  EXPECT_EQ(store.state_elements(), 3 * kAlignment);
  EXPECT_EQ(store.State(store.low_bits(), 1, store.OwnedOf(1)).data_ptr<int16_t>(),
            store.low_bits().data_ptr<int16_t>() + 2 * kAlignment);
}

TEST(ParameterStoreTest, PartsOfTheMasterWeightsAreThoseOfTheWhole) {
  const std::vector<GroupDeclaration> groups = {
      {"wide", {{{WholeLogicalTensor("w", {50, 7}, 1)}, true}}}};
  ParameterStore whole(groups, torch::kBFloat16, torch::kCPU, 1);
  for (int64_t index = 0; index < 3; ++index) {
    ParameterStore part(groups, torch::kBFloat16, torch::kCPU, 1, Thirds(index));
    EXPECT_TRUE(part.Value(0).equal(whole.Value(0)));
    const ElementRange owned = Intersect(part.OwnedOf(0), part.slices()[0].range);
    EXPECT_TRUE(part.State(part.low_bits(), 0, owned)
                    .equal(whole.low_bits().narrow(0, owned.first, owned.length)));
  }
}

}  // namespace
}  // namespace trainyard::trainer
