#include "proto/memory/memory_advice.h"

#include <gtest/gtest.h>

#include "tests/proto/memory/memory_configs.h"

namespace trainyard {
namespace {

constexpr double kH200 = 150.1e9;

std::vector<std::string> Changes(const RunConfig& config, double limit) {
  std::vector<std::string> changes;
  for (const MemoryRemedy& remedy : FindMemoryRemedies(config, limit)) {
    EXPECT_LE(remedy.bytes * 1.05, limit) << remedy.change;
    changes.push_back(remedy.change);
  }
  return changes;
}

using Texts = std::vector<std::string>;

TEST(MemoryAdviceTest, OffersEachChangeThatIsEnough) {
  RunConfig config = Llama3_1b5(48);  // 156.6 GB
  config.train.global_batch = 96;
  EXPECT_EQ(Changes(config, kH200),
            (Texts{"layout.micro_batch to 32", "layout.recompute to selective",
                   "layout.recompute to full"}))
      << "96 is divisible by 32 and not by 33 to 47";
  config.layout.recompute = Recompute::kSelective;
  EXPECT_EQ(Changes(config, 100e9),
            (Texts{"layout.micro_batch to 32", "layout.recompute to full"}));
}

TEST(MemoryAdviceTest, OffersNarrowMoments) {
  // The run needs 169.6 GB, which selective recomputation reduces to 158 GB.
  EXPECT_EQ(Changes(Llama3_8b(1), kH200),
            (Texts{"layout.recompute to full",
                   "optimizer.exp_avg_dtype and optimizer.exp_avg_sq_dtype to bf16"}));
}

TEST(MemoryAdviceTest, JoinsChangesWhenNoneIsEnoughAlone) {
  RunConfig config = Llama3_8b(4);
  config.train.global_batch = 12;
  config.layout.dp = 3;
  EXPECT_EQ(Changes(config, 115e9),
            (Texts{"layout.zero to 1, layout.recompute to full, optimizer.exp_avg_dtype and "
                   "optimizer.exp_avg_sq_dtype to bf16"}));
  config.layout.zero = 1;
  EXPECT_EQ(Changes(config, 90e9),
            (Texts{"layout.recompute to full, optimizer.exp_avg_dtype and "
                   "optimizer.exp_avg_sq_dtype to bf16, layout.micro_batch to 2"}));
}

TEST(MemoryAdviceTest, OffersToShardTheStateOverSeveralRanks) {
  RunConfig config = Llama3_8b(1);
  config.layout.dp = 2;
  EXPECT_EQ(Changes(config, kH200).front(), "layout.zero to 1");
}

// A model of 7 B with samples of 32,768 tokens and full recomputation. The attention scores need
// the most memory.
TEST(MemoryAdviceTest, OffersAttentionWhoseBitsVary) {
  RunConfig config = Llama3_8b(2);
  config.resources.device = DeviceKind::kGpu;
  config.train.precision = Precision::kBf16;
  config.train.seq_length = 32768;
  config.layout.dp = 32;
  config.layout.zero = 1;
  config.layout.recompute = Recompute::kFull;
  ASSERT_TRUE(config.train.deterministic);
  const std::vector<MemoryRemedy> remedies = FindMemoryRemedies(config, 141e9);
  ASSERT_FALSE(remedies.empty()) << MemoryText(PredictTrainingMemory(config));
  EXPECT_EQ(remedies[0].change,
            "train.deterministic to false (runs then differ in their last bits)");
  EXPECT_LT(remedies[0].bytes, PredictTrainingMemory(config).Total() / 2);
  config.train.deterministic = false;
  for (const MemoryRemedy& remedy : FindMemoryRemedies(config, 10e9)) {
    EXPECT_EQ(remedy.change.find("deterministic"), std::string::npos) << "it is set";
  }
}

TEST(MemoryAdviceTest, SaysWhenNothingIsEnough) {
  EXPECT_TRUE(FindMemoryRemedies(Llama3_8b(1), 80e9).empty());
  EXPECT_NE(MemoryAdviceText(Llama3_8b(1), 80e9).find("the model size"), std::string::npos);
}

TEST(MemoryAdviceTest, Texts) {
  EXPECT_EQ(GigabytesText(69'549'999'999), "69.5 GB");
  MemoryPrediction prediction;
  prediction.weights = 1e9;
  prediction.moments = 2e9;
  EXPECT_EQ(MemoryText(prediction),
            "3.0 GB (weights 1.0 GB, gradients 0.0 GB, moments 2.0 GB, saved activations 0.0 GB, "
            "working memory 0.0 GB, CUDA and libraries 0.0 GB)");
  const std::string advice = MemoryAdviceText(Llama3_1b5(48), 100e9);
  EXPECT_EQ(advice.find("Set layout.micro_batch to 24 (predicted: 91."), 0u) << advice;
  EXPECT_NE(advice.find("); or layout.recompute to full ("), std::string::npos) << advice;
}

}  // namespace
}  // namespace trainyard
