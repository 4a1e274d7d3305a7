#include "trainer/checkpoint_tools/hugging_face/tensor_check.h"

#include <gtest/gtest.h>

namespace trainyard::trainer {
namespace {

TEST(TensorCheckTest, NothingToSayOfTheRightTensors) {
  EXPECT_EQ(TensorFaults({{"a", {2, 3}}, {"b", {2}}}, {{"b", {2}}, {"a", {2, 3}}}), "");
}

TEST(TensorCheckTest, FaultsAreNamed) {
  EXPECT_EQ(TensorFaults({{"a", {2}}, {"b", {2, 3}}}, {{"b", {3, 2}}, {"c", {1}}}),
            "lacks tensors: a; has tensors of other shapes: b [3, 2] instead of [2, 3]; has "
            "tensors that the model lacks: c");
}

TEST(TensorCheckTest, ALongListIsCut) {
  EXPECT_EQ(TensorFaults({{"a", {1}}, {"b", {1}}, {"c", {1}}, {"d", {1}}, {"e", {1}}}, {}),
            "lacks tensors: a, b, c and 2 more");
}

}  // namespace
}  // namespace trainyard::trainer
