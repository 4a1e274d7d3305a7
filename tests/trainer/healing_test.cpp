// Tests a gang that loses ranks and heals in place. The results must have the same bits as those of
// a run that loses no rank.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/trainer/healing_gang.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using Losses = std::map<int64_t, double>;

constexpr int64_t kRanks = 4;

// Configures many short steps, so that a kill can hit any point of a step.
TrainerFolder& Prepared(TrainerFolder& folder) {
  folder.spec["train"]["steps"] = 60;
  folder.spec["train"]["log_every_steps"] = 1;
  folder.spec["layout"]["micro_batch"] = 2;
  folder.spec["evaluation"]["every_steps"] = 15;
  folder.spec["checkpoint"]["every_steps"] = 20;
  return folder;
}

Losses Undisturbed(TrainerFolder& folder) {
  return TrainToTheEnd(folder,
                       {.world_size = kRanks, .run = "whole", .checkpoints = "whole_checkpoints"});
}

// Kills a rank after step 10 and replaces it. The losses must equal those of an undisturbed run.
void ExpectReplacedBitForBit(TrainerFolder& folder, int64_t rank, HealingGang& gang) {
  ASSERT_TRUE(gang.WaitForStep(10)) << gang.Rank(0).Output();
  gang.Kill(rank);
  gang.Replace({rank});
  gang.ExpectEnds();
  EXPECT_EQ(gang.Losses(), Undisturbed(folder));
}

TEST(HealingTest, KilledRankIsReplaced) {
  TrainerFolder folder;
  HealingGang gang(Prepared(folder), kRanks);
  ExpectReplacedBitForBit(folder, 2, gang);
  const std::vector<json> healed = gang.Alerts("healed");
  ASSERT_EQ(healed.size(), 1u);
  EXPECT_NE(healed[0]["message"].get<std::string>().find(
                ": rank 2 is a new process, training continues at step "),
            std::string::npos)
      << healed[0];
  EXPECT_EQ(gang.Rank(1).Records("rank").back()["generation"], 2);
  EXPECT_FALSE(gang.Rank(1).Records("rank").front().contains("generation"));
  gang.TellDone();
  EXPECT_EQ(gang.Spare().Wait(), 0) << gang.Spare().Output();
}

TEST(HealingTest, TwoDeathsAndOneOfThemRankZero) {
  TrainerFolder folder;
  const Losses whole = Undisturbed(Prepared(folder));
  HealingGang gang(folder, kRanks);
  ASSERT_TRUE(gang.WaitForStep(8)) << gang.Rank(0).Output();
  gang.Kill(0);
  gang.Replace({0});
  ASSERT_TRUE(gang.WaitForStep(30)) << gang.Rank(0).Output();
  gang.Kill(3);
  gang.Replace({3});
  gang.ExpectEnds();
  EXPECT_EQ(gang.Losses(), whole);
}

// The new rank dies before it has joined generation 2. The order for generation 3 must replace the
// order for generation 2.
TEST(HealingTest, DeathWhileHealing) {
  TrainerFolder folder;
  const Losses whole = Undisturbed(Prepared(folder));
  HealingGang gang(folder, kRanks);
  ASSERT_TRUE(gang.WaitForStep(10)) << gang.Rank(0).Output();
  gang.Spare().Signal(SIGKILL);
  gang.Kill(1);
  gang.Replace({1});
  ASSERT_TRUE(gang.Rank(2).WaitForRecord(
      "phase", [](const json& record) { return record["phase"] == "heal"; }));
  gang.Replace({1});
  gang.ExpectEnds();
  EXPECT_EQ(gang.Losses(), whole);
  EXPECT_EQ(gang.Rank(2).Records("rank").back()["generation"], 3);
}

TEST(HealingTest, WithoutAnOrderALossEndsTheRank) {
  TrainerFolder folder;
  Prepared(folder).spec["train"]["steps"] = 100000;
  HealingGang gang(folder, 2, {{"TRAINYARD_HEAL_WAIT", "1"}});
  ASSERT_TRUE(gang.WaitForStep(5)) << gang.Rank(0).Output();
  gang.Kill(1);
  EXPECT_EQ(gang.Rank(0).Wait(), 69) << gang.Rank(0).Output();
  EXPECT_EQ(gang.Rank(0).Records("alert").back()["code"], "exit_69");
  gang.Spare().Signal(SIGTERM);
  EXPECT_EQ(gang.Spare().Wait(), 0) << gang.Spare().Output();
}

// A rank and its buddy, which stores a copy of the rank's state, both die. No other rank has this
// state.
TEST(HealingTest, LossOfTwoBuddiesEndsTheGang) {
  TrainerFolder folder;
  Prepared(folder).spec["train"]["steps"] = 100000;
  folder.spec["layout"]["zero"] = 1;
  HealingGang gang(folder, kRanks);
  gang.AddSpare();
  ASSERT_TRUE(gang.WaitForStep(5)) << gang.Rank(0).Output();
  gang.Kill(1);
  gang.Kill(2);
  gang.Replace({1, 2});
  for (int64_t rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(gang.Rank(rank).Wait(), 69) << gang.Rank(rank).Output();
    EXPECT_NE(gang.Rank(rank).Output().find("No rank has the state of rank 1 in memory"),
              std::string::npos)
        << gang.Rank(rank).Output();
  }
}

class HealingOfLayoutTest : public testing::TestWithParam<const char*> {};

TEST_P(HealingOfLayoutTest, GoesOnBitForBit) {
  TrainerFolder folder;
  Prepared(folder).spec["layout"].update(json::parse(GetParam()));
  folder.spec["train"]["steps"] = 30;
  HealingGang gang(folder, kRanks);
  ExpectReplacedBitForBit(folder, 2, gang);
}

// Each pair of ranks has half of the experts. The bias of the router changes in each step, by
// enough that ranks with different biases would choose different experts.
TEST(HealingTest, ARankWithItsOwnExpertsIsReplaced) {
  TrainerFolder folder;
  Prepared(folder).spec["model"].update({{"num_experts", 8},
                                         {"moe_router_topk", 2},
                                         {"moe_ffn_hidden_size", 16},
                                         {"moe_router_score_function", "sigmoid"},
                                         {"moe_router_enable_expert_bias", true},
                                         {"moe_router_bias_update_rate", 0.05}});
  folder.spec["layout"]["ep"] = 2;
  folder.spec["train"]["steps"] = 30;
  HealingGang gang(folder, kRanks);
  ExpectReplacedBitForBit(folder, 3, gang);
}

// The scale is found by skipped steps, and each rank restores the scale together with its weights.
TEST(HealingTest, Fp16GoesOnBitForBitWithItsLossScale) {
  TrainerFolder folder;
  Prepared(folder).spec["train"].update(
      {{"steps", 30}, {"precision", "fp16"}, {"loss_scale_window", 4}});
  folder.spec["layout"]["zero"] = 1;
  HealingGang gang(folder, kRanks);
  ExpectReplacedBitForBit(folder, 2, gang);
  const auto skipped = [](const TrainerProcess& rank) -> int64_t {
    return rank.Records("metrics").back()["skipped_steps"];
  };
  EXPECT_GT(skipped(gang.Rank(0)), 10);
}

// Each rank restores the history of FP8 scales together with its weights.
TEST(HealingTest, Fp8GoesOnBitForBitWithItsHistory) {
  TrainerFolder folder;
  Prepared(folder).spec["train"].update({{"steps", 30},
                                         {"fp8", "delayed"},
                                         {"fp8_amax_history_len", 8},
                                         {"fp8_amax_compute_algo", "max"}});
  folder.spec["layout"]["zero"] = 1;
  HealingGang gang(folder, kRanks);
  ExpectReplacedBitForBit(folder, 2, gang);
}

// Other layouts can be tested with tests/gpu/healing.py --device cpu --layout '{"pp": 2}'.
INSTANTIATE_TEST_SUITE_P(Layouts, HealingOfLayoutTest,
                         testing::Values(R"({"zero": 1})", R"({"tp": 2, "pp": 2})"));

}  // namespace
}  // namespace trainyard::trainer
