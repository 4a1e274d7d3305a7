#include "proto/jobspec/rules/launch_shape.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(LaunchShapeTest, AProcessHasOneRankUnlessTheJobStartsLaunchers) {
  v1::JobSpec spec;
  spec.mutable_resources()->set_slots_per_node(8);
  EXPECT_EQ(RanksPerProcess(spec), 1);
  EXPECT_EQ(FirstRankOfProcess(spec, 13), 13);
  spec.mutable_launch()->set_processes_per_node(2);
  EXPECT_EQ(RanksPerProcess(spec), 4);
  EXPECT_EQ(FirstRankOfProcess(spec, 13), 12);
  EXPECT_EQ(FirstRankOfProcess(spec, 12), 12);
  spec.mutable_launch()->set_processes_per_node(8);
  EXPECT_EQ(RanksPerProcess(spec), 1);
}

TEST(LaunchShapeTest, ASpecThatNoRuleHasCheckedHasAtLeastOneRankPerProcess) {
  v1::JobSpec spec;
  spec.mutable_launch()->set_processes_per_node(4);
  EXPECT_EQ(RanksPerProcess(spec), 1) << "no slots";
  spec.mutable_launch()->set_processes_per_node(-1);
  EXPECT_EQ(RanksPerProcess(spec), 1);
}

}  // namespace
}  // namespace trainyard
