// A gang that loses ranks and goes on in place, bit for bit as if nothing had happened.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/trainer/healing_gang.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using Losses = std::map<int64_t, double>;

constexpr int64_t kRanks = 4;

// Many short steps: a kill meets them anywhere.
TrainerFolder& Prepared(TrainerFolder& folder) {
  folder.spec["train"]["steps"] = 120;
  folder.spec["train"]["log_every_steps"] = 1;
  folder.spec["layout"]["micro_batch"] = 2;
  folder.spec["evaluation"]["every_steps"] = 30;
  folder.spec["checkpoint"]["every_steps"] = 40;
  return folder;
}

Losses Undisturbed(TrainerFolder& folder) {
  return TrainToTheEnd(folder,
                       {.world_size = kRanks, .run = "whole", .checkpoints = "whole_checkpoints"});
}

TEST(HealingTest, KilledRankIsReplaced) {
  TrainerFolder folder;
  const Losses whole = Undisturbed(Prepared(folder));
  HealingGang gang(folder, kRanks);
  ASSERT_TRUE(gang.WaitForStep(20));
  gang.Kill(2);
  gang.Replace({2});
  gang.ExpectEnds();
  EXPECT_EQ(gang.Losses(), whole);
  const std::vector<json> healed = gang.Alerts("healed");
  ASSERT_EQ(healed.size(), 1u);
  EXPECT_NE(healed[0]["message"].get<std::string>().find(": rank 2 is a new process, step "),
            std::string::npos)
      << healed[0];
  EXPECT_EQ(gang.Rank(1).Records("rank").back()["generation"], 2);
  EXPECT_FALSE(gang.Rank(1).Records("rank").front().contains("generation"));
  gang.TellDone();
  EXPECT_EQ(gang.Spare().Wait(), 0) << gang.Spare().Output();
}

}  // namespace
}  // namespace trainyard::trainer
