// Runs the complete program in FP8, which CPUs emulate.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/trainer/checkpoint/read_tensor.h"
#include "tests/trainer/trainer_process.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using Losses = std::map<int64_t, double>;

constexpr char kHistory[] = "optimizer.fp8_amax_history.model.layers.0.mlp.down_proj";

// All products of the blocks use FP8 with up to two tensor-parallel ranks.
void UseFp8(TrainerFolder& folder) {
  folder.spec["train"].update({{"precision", "fp32"},
                               {"fp8", "delayed"},
                               {"fp8_amax_history_len", 6},
                               {"fp8_amax_compute_algo", "max"},
                               {"seq_length", 32},
                               {"log_every_steps", 1}});
  folder.spec["model"].update({{"hidden_size", 64},
                               {"ffn_hidden_size", 64},
                               {"num_attention_heads", 4},
                               {"num_query_groups", 4}});
  folder.spec["checkpoint"]["keep_last"] = 20;
  folder.spec["checkpoint"]["every_steps"] = 4;
}

Losses Train(const TrainerFolder& folder, const std::string& run, const std::string& from = "",
             int64_t ranks = 1) {
  TrainerStart start{.world_size = ranks, .run = run, .checkpoints = run};
  if (!from.empty()) start.variables["TRAINYARD_RESUME_FROM"] = folder.path() / from;
  return TrainToTheEnd(folder, start);
}

// Step 4 is within the first history, and step 12 is after it.
TEST(Fp8RunTest, AResumedRunHasTheSameBits) {
  TrainerFolder folder;
  UseFp8(folder);
  const Losses whole = Train(folder, "whole");
  ASSERT_EQ(whole.size(), 20u);
  for (const std::string from : {"04", "12"}) {
    const Losses resumed = Train(folder, "from" + from, "whole/step_0000000" + from);
    ASSERT_EQ(resumed.size(), 20u - std::stoul(from));
    for (const auto& [step, loss] : resumed) EXPECT_EQ(loss, whole.at(step)) << "step " << step;
  }
}

torch::Tensor HistoryAt(const TrainerFolder& folder, const std::string& checkpoint) {
  return ReadWhole(CheckpointReader(folder.path() / checkpoint), kHistory);
}

// The checkpoint of two tensor-parallel ranks is the same as that of one rank with its layout.
TEST(Fp8RunTest, AnyLayoutReadsTheHistoryOfAnother) {
  TrainerFolder folder;
  UseFp8(folder);
  folder.spec["layout"] = {{"tp", 2}, {"micro_batch", 2}};
  Train(folder, "tp2", "", 2);
  const torch::Tensor written = HistoryAt(folder, "tp2/step_000000020");
  EXPECT_EQ(written.sizes().vec(), (std::vector<int64_t>{2, 6}));
  EXPECT_EQ(written.count_nonzero().item<int64_t>(), 12) << "an input and a gradient of six steps";
  folder.spec["layout"] = {{"dp", 2}, {"zero", 3}, {"micro_batch", 2}};
  folder.spec["train"]["steps"] = 21;
  Train(folder, "zero3", "tp2/step_000000020", 2);
  const torch::Tensor longer = HistoryAt(folder, "zero3/step_000000021");
  EXPECT_TRUE(longer.narrow(1, 1, 5).equal(written.narrow(1, 0, 5)));
}

// The first step then scales each tensor by its own largest value. The run prints a note about it.
TEST(Fp8RunTest, ACheckpointWithoutThisHistoryStartsWithTheFirstStepRule) {
  TrainerFolder folder;
  UseFp8(folder);
  Train(folder, "long");
  for (const int64_t length : {6, 5}) {
    folder.spec["train"]["fp8_amax_history_len"] = length;
    const std::string run = "next" + std::to_string(length);
    TrainerStart start{.run = run, .checkpoints = run};
    start.variables["TRAINYARD_RESUME_FROM"] = folder.path() / "long/step_000000012";
    TrainerProcess trainer(folder, start);
    EXPECT_EQ(trainer.Wait(), 0) << trainer.Output();
    const bool is_noted = trainer.Output().find(
                              "the checkpoint has no FP8 history of "
                              "train.fp8_amax_history_len steps") != std::string::npos;
    EXPECT_EQ(is_noted, length == 5) << trainer.Output();
    EXPECT_EQ(trainer.Losses().size(), 8u);
  }
}

TEST(Fp8RunTest, CurrentScalesHaveNoState) {
  TrainerFolder folder;
  UseFp8(folder);
  folder.spec["train"]["fp8"] = "current";
  folder.spec["train"].erase("fp8_amax_history_len");
  folder.spec["train"].erase("fp8_amax_compute_algo");
  const Losses whole = Train(folder, "whole");
  EXPECT_FALSE(CheckpointReader(folder.path() / "whole/step_000000020").Has(kHistory));
  const Losses resumed = Train(folder, "resumed", "whole/step_000000012");
  for (const auto& [step, loss] : resumed) EXPECT_EQ(loss, whole.at(step)) << "step " << step;
}

TEST(Fp8RunTest, TheRunPrintsItsProducts) {
  TrainerFolder folder;
  UseFp8(folder);
  folder.spec["model"]["ffn_hidden_size"] = 72;
  TrainerProcess trainer(folder, {});
  EXPECT_EQ(trainer.Wait(), 0) << trainer.Output();
  for (const char* line :
       {"fp8     query, key and value projection: FP8\n",
        "fp8     down projection: not in FP8, because the input width on a rank (72) is not a "
        "multiple of 16\n"}) {
    EXPECT_NE(trainer.Output().find(line), std::string::npos) << trainer.Output();
  }
}

// An evaluation uses the scales of the history without changing them.
TEST(Fp8RunTest, EvaluationsChangeNoBit) {
  TrainerFolder folder;
  UseFp8(folder);
  folder.spec["evaluation"] = {{"every_steps", 0}};
  const Losses without = Train(folder, "without");
  folder.spec["evaluation"] = {{"every_steps", 3}, {"samples", 4}};
  EXPECT_EQ(Train(folder, "with"), without);
}

}  // namespace
}  // namespace trainyard::trainer
