// Tests which layout is chosen for a given number of nodes with given devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "controller/core/schedule/layout_choice.h"
#include "proto/jobspec/defaults.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::HasSubstr;

LayoutQuestion GpuQuestion(int nodes, const std::string& device) {
  return {1, {nodes, 8, v1::DEVICE_KIND_GPU}, device};
}

v1::JobSpec LargeSpec(int nodes) {
  v1::JobSpec spec = AutoSpec("large", nodes, 8);
  spec.mutable_resources()->set_device(v1::DEVICE_KIND_GPU);
  v1::ModelSpec& model = *spec.mutable_model();
  model.set_num_layers(80);
  model.set_hidden_size(8192);
  model.set_ffn_hidden_size(28672);
  model.set_num_attention_heads(64);
  model.set_num_query_groups(8);
  model.set_vocab_size(128256);
  spec.mutable_train()->set_seq_length(8192);
  spec.mutable_train()->set_global_batch(512);
  spec.mutable_train()->set_precision(v1::PRECISION_BF16);
  return spec;
}

TEST(ChooseLayoutTest, SaysHowMuchMemoryIsMissingAndWhatWouldDo) {
  const v1::GrantedLayout none = ChooseLayoutFor(LargeSpec(1), GpuQuestion(1, "NVIDIA H100 80GB"));
  EXPECT_EQ(none.nodes(), 0);
  EXPECT_THAT(none.problem(), HasSubstr("no layout fits into 1 node of 8 H100"));
  EXPECT_THAT(none.problem(), HasSubstr("GB of memory are missing on each GPU"));
  EXPECT_THAT(none.advice(), HasSubstr("such nodes are needed; set `resources.nodes` to "));
  const v1::GrantedLayout some = ChooseLayoutFor(LargeSpec(8), GpuQuestion(8, "NVIDIA H100 80GB"));
  EXPECT_EQ(some.nodes(), 8);
  EXPECT_GT(some.memory_bytes(), 40e9);
  EXPECT_GT(some.tokens_per_second(), 10'000);
  EXPECT_GT(some.step_seconds(), 0);
}

// Returns the spec as a submission would store it.
v1::JobSpec Complete(v1::JobSpec spec) {
  Origins origins;
  FillDefaults(spec, origins);
  return spec;
}

// A layout must leave nodes unused: 11 ranks are impossible, because 11 divides neither the batch
// nor a dimension of the model.
TEST(ChooseLayoutTest, OnlyARemainderOfTheNodesMayBeReduced) {
  const LayoutQuestion eleven{1, {11, 1, v1::DEVICE_KIND_CPU}, "cpu"};
  const v1::GrantedLayout all = ChooseLayoutFor(Complete(AutoSpec("auto", 11, 1)), eleven);
  EXPECT_EQ(all.nodes(), 0) << "the job asks for 11 nodes";
  EXPECT_NE(all.problem(), "");
  const v1::GrantedLayout fewer = ChooseLayoutFor(Complete(AutoSpec("auto", 12, 1)), eleven);
  EXPECT_EQ(fewer.asked_nodes(), 11);
  EXPECT_GT(fewer.nodes(), 0);
  EXPECT_LT(fewer.nodes(), 11);
}

// The model is so small that its steps are faster on fewer ranks.
TEST(ChooseLayoutTest, TheThreeLargestCountsWithALayoutAreCompared) {
  const auto choose = [](int asked, int remaining) {
    v1::JobSpec spec = Complete(AutoSpec("tiny", asked, 1));
    spec.mutable_resources()->set_device(v1::DEVICE_KIND_GPU);
    spec.mutable_train()->set_global_batch(8);
    return ChooseLayoutFor(spec, {1, {remaining, 1, v1::DEVICE_KIND_GPU}, "NVIDIA H100 80GB"});
  };
  // The model has layouts for exactly these numbers of nodes.
  for (const int nodes : {23, 20, 18, 15, 14, 11, 10, 9}) {
    ASSERT_EQ(choose(nodes, nodes).nodes(), 0) << nodes;
  }
  ASSERT_LT(choose(16, 16).step_seconds(), choose(24, 24).step_seconds());
  ASSERT_LT(choose(12, 12).step_seconds(), choose(16, 16).step_seconds());
  ASSERT_LT(choose(8, 8).step_seconds(), choose(12, 12).step_seconds());
  EXPECT_EQ(choose(25, 24).nodes(), 12);
}

TEST(ChooseLayoutTest, FewerNodesThanAreLeftMayBeTheBest) {
  // 7 does not divide the batch. A layout that uses all 7 nodes must therefore use the factor 7 in
  // another dimension.
  const v1::GrantedLayout chosen = ChooseLayoutFor(LargeSpec(8), GpuQuestion(7, "NVIDIA H200"));
  EXPECT_EQ(chosen.asked_nodes(), 7);
  EXPECT_GE(chosen.nodes(), 4);
  EXPECT_LE(chosen.nodes(), 7);
}

// The H200s have more memory than the A100s, but in each step the H200s wait for the slower A100s.
TEST(ChooseLayoutTest, OfSeveralKindsTheSmallestAndTheSlowestCount) {
  const v1::JobSpec spec = LargeSpec(8);
  const v1::GrantedLayout slow = ChooseLayoutFor(spec, GpuQuestion(8, "NVIDIA A100-SXM4-80GB"));
  const v1::GrantedLayout mixed =
      ChooseLayoutFor(spec, GpuQuestion(8, "NVIDIA A100-SXM4-80GB, NVIDIA H200"));
  EXPECT_EQ(mixed.nodes(), 8);
  EXPECT_EQ(mixed.device(), "NVIDIA A100-SXM4-80GB, NVIDIA H200");
  EXPECT_DOUBLE_EQ(mixed.step_seconds(), slow.step_seconds());
  // An A6000 has less memory than an A100 and is slower. An H200 has more memory than an A100 and
  // is faster.
  const v1::GrantedLayout small =
      ChooseLayoutFor(spec, GpuQuestion(8, "NVIDIA H200, NVIDIA RTX A6000"));
  EXPECT_EQ(small.nodes(), 8) << small.problem();
  EXPECT_LT(small.memory_bytes(), 48e9);
  EXPECT_THAT(ChooseLayoutFor(spec, GpuQuestion(8, "GeForce 256, NVIDIA H200")).problem(),
              HasSubstr("no layout can be chosen for GeForce 256"));
}

TEST(ChooseLayoutTest, RefusesDevicesThatItCannotJudge) {
  EXPECT_THAT(ChooseLayoutFor(LargeSpec(8), GpuQuestion(8, "GeForce 256")).problem(),
              HasSubstr("no layout can be chosen for GeForce 256"));
  EXPECT_THAT(ChooseLayoutFor(LargeSpec(8), GpuQuestion(8, "Tesla V100-SXM2-32GB")).problem(),
              HasSubstr("has no bf16 arithmetic"));
}

TEST(ChooseLayoutTest, AnAnswerForMoreNodesHoldsForThoseThatItTakes) {
  JobEntry entry;
  *entry.job.mutable_spec() = LargeSpec(8);
  v1::GrantedLayout choice;
  choice.set_asked_nodes(7);
  choice.set_nodes(4);
  choice.set_slots_per_node(8);
  choice.set_device("NVIDIA H200");
  entry.layouts.push_back(choice);
  EXPECT_NE(FindChoice(entry, GpuQuestion(7, "NVIDIA H200")), nullptr);
  EXPECT_NE(FindChoice(entry, GpuQuestion(4, "NVIDIA H200")), nullptr);
  EXPECT_EQ(FindChoice(entry, GpuQuestion(3, "NVIDIA H200")), nullptr);
  EXPECT_EQ(FindChoice(entry, GpuQuestion(8, "NVIDIA H200")), nullptr);
  EXPECT_EQ(FindChoice(entry, GpuQuestion(7, "NVIDIA H100")), nullptr);
}

}  // namespace
}  // namespace trainyard::controller
