#include "proto/memory/memory_model.h"

#include <gtest/gtest.h>

#include "proto/model/model_size.h"
#include "tests/proto/memory/memory_configs.h"

namespace trainyard {
namespace {

// Compares the predicted peak with the peak that
// LibTorch's allocator reported on an H200. `gigabytes`
// is in units of 1e9 bytes, rounded to one decimal.
void ExpectMeasured(const RunConfig& config, double gigabytes) {
  constexpr double kTolerance = 0.01;
  EXPECT_NEAR(PredictTrainingMemory(config).Tensors(), gigabytes * 1e9,
              kTolerance * gigabytes * 1e9);
}

TEST(MemoryModelTest, PredictsMeasuredPeaks) {
  ExpectMeasured(Llama3_1b5(16), 69.5);
  ExpectMeasured(Llama3_1b5(24), 90.9);
  ExpectMeasured(Small162m(32), 13.3);
  RunConfig narrow = Llama3_8b(1);
  narrow.optimizer.exp_avg_dtype = narrow.optimizer.exp_avg_sq_dtype = Precision::kBf16;
  ExpectMeasured(narrow, 136.8);
  RunConfig sharded = Llama3_1b5(16);
  sharded.layout.dp = 2;
  sharded.layout.zero = 1;
  ExpectMeasured(sharded, 61.8);
  sharded.layout.zero = 2;
  ExpectMeasured(sharded, 59.8);
  sharded.layout.zero = 3;
  ExpectMeasured(sharded, 58.8);
}

TEST(MemoryModelTest, PredictsMeasuredPeaksOfOtherAxes) {
  RunConfig config = Llama3_1b5(16);
  config.train.global_batch = 32;
  config.layout.tp = 2;
  ExpectMeasured(config, 35.0);
  config.layout.tp = 1;
  config.layout.cp = 2;
  config.layout.cp_comm_type = ContextExchange::kP2p;
  ExpectMeasured(config, 48.2);
}

// A rank keeps the results of attention twice: for its tokens, and for its heads of whole samples.
TEST(MemoryModelTest, RanksThatExchangeHeadsComputeInPieces) {
  RunConfig config = Llama3_1b5(32);
  config.layout.cp = 2;
  const MemoryPrediction heads = PredictTrainingMemory(config);
  config.layout.cp_comm_type = ContextExchange::kP2p;
  const MemoryPrediction ring = PredictTrainingMemory(config);
  EXPECT_NEAR(heads.activations - ring.activations, 18.0 * 32 * 1024 * 2048 * 2, 1);
}

TEST(MemoryModelTest, PipelinesNeedMostOnTheStageWithTheMostUnderWay) {
  RunConfig config = Llama3_1b5(2);
  config.train.global_batch = 32;
  config.model.vocab_size = 1024;  // Makes the head negligible, so all stages take equally long.
  config.layout.pp = 2;
  const MemoryPrediction two = PredictTrainingMemory(config);
  config.layout.pp = 6;
  const MemoryPrediction six = PredictTrainingMemory(config);
  EXPECT_EQ(six.activations, two.activations) << "six micro-batches of 3 layers, or two of 9";
  EXPECT_LT(six.weights, two.weights);
  config.layout.vpp = 3;
  EXPECT_GT(PredictTrainingMemory(config).activations, six.activations);
}

TEST(MemoryModelTest, TwoRanksThatExchangeHeadsHaveSlots) {
  RunConfig config = Llama3_1b5(32);
  config.layout.cp = 2;
  // Half of the queries, keys and values of 16 samples, twice.
  EXPECT_EQ(ContextSlotBytes(config), 16 * 1024 * 4096 * 2);
  const double overhead = PredictTrainingMemory(config).overhead;
  config.layout.cp_comm_type = ContextExchange::kP2p;
  EXPECT_EQ(ContextSlotBytes(config), 0);
  EXPECT_EQ(overhead - PredictTrainingMemory(config).overhead, 3.0 * 16 * 1024 * 4096 * 2);
  config.layout.cp_comm_type = ContextExchange::kA2a;
  config.layout.cp = 4;
  EXPECT_EQ(ContextSlotBytes(config), 0) << "more than two ranks";
}

// Per head and layer, manual attention keeps 4 bytes per pair of positions. Fused attention keeps 4
// bytes per position and, with documents, 2 bytes per pair of positions in a sample.
TEST(MemoryModelTest, AttentionBackendsDifferByPairsOfPositions) {
  RunConfig config = Small162m(2);
  const double fused = PredictTrainingMemory(config).activations;
  const double samples = 2, length = static_cast<double>(config.train.seq_length);
  const double heads = static_cast<double>(config.model.num_attention_heads);
  const double layers = static_cast<double>(config.model.num_layers);
  config.data.reset_attention_mask = true;
  EXPECT_NEAR(PredictTrainingMemory(config).activations - fused, 2 * samples * length * length, 1);
  config.train.attention_backend = AttentionBackend::kManual;
  EXPECT_NEAR(PredictTrainingMemory(config).activations - fused,
              4 * samples * layers * heads * length * (length - 1), 1e3);
}

TEST(MemoryModelTest, CountsEachParameterOfTheState) {
  constexpr double kParameters = 8'030'261'248;  // tests/proto/model/model_size_test.cpp
  RunConfig config = Llama3_8b(1);
  MemoryPrediction prediction = PredictTrainingMemory(config);
  EXPECT_EQ(prediction.weights, 4 * kParameters);
  EXPECT_EQ(prediction.gradients, 4 * kParameters);
  EXPECT_EQ(prediction.moments, 8 * kParameters);
  config.optimizer.exp_avg_dtype = Precision::kBf16;
  EXPECT_EQ(PredictTrainingMemory(config).moments, 6 * kParameters);
  config.train.precision = Precision::kFp32;
  EXPECT_EQ(PredictTrainingMemory(config).weights, 4 * kParameters);
  config.train.precision = Precision::kFp16;
  EXPECT_EQ(PredictTrainingMemory(config).weights, 6 * kParameters) << "values and masters";
}

TEST(MemoryModelTest, ActivationsOfFp16NeedAsMuchAsThoseOfBf16) {
  RunConfig config = Llama3_1b5(16);
  const MemoryPrediction bf16 = PredictTrainingMemory(config);
  config.train.precision = Precision::kFp16;
  EXPECT_EQ(PredictTrainingMemory(config).activations, bf16.activations);
}

TEST(MemoryModelTest, RanksMayShareTheStateOfTheOptimizer) {
  RunConfig config = Llama3_1b5(16);
  config.layout.dp = 4;
  const MemoryPrediction whole = PredictTrainingMemory(config);
  config.layout.zero = 1;
  const MemoryPrediction shared = PredictTrainingMemory(config);
  EXPECT_EQ(shared.moments, whole.moments / 4);
  EXPECT_EQ(shared.weights, whole.weights * (1 + 0.25) / 2) << "half of it are low bits";
  EXPECT_EQ(shared.gradients, whole.gradients);
}

TEST(MemoryModelTest, CountsBiasesAndPositions) {
  RunConfig config = Llama3_1b5(1);
  const ModelConfig plain = config.model;
  const double before = PredictTrainingMemory(config).gradients;
  config.model.add_bias_linear = true;
  config.model.position_embedding_type = PositionEmbedding::kLearnedAbsolute;
  config.model.max_position_embeddings = 2048;
  const auto more = static_cast<double>(ParameterCount(config.model) - ParameterCount(plain));
  EXPECT_EQ(PredictTrainingMemory(config).gradients, before + 4 * more);
}

TEST(MemoryModelTest, CountsBiasesOfQueriesKeysAndValues) {
  RunConfig config = Llama3_1b5(1);
  const ModelConfig plain = config.model;
  const double before = PredictTrainingMemory(config).gradients;
  config.model.add_qkv_bias = true;
  const auto more = static_cast<double>(ParameterCount(config.model) - ParameterCount(plain));
  EXPECT_GT(more, 0);
  EXPECT_EQ(PredictTrainingMemory(config).gradients, before + 4 * more);
}

TEST(MemoryModelTest, OtherBlocksKeepLess) {
  constexpr double kBlockRows = 18.0 * 16 * 2048;
  RunConfig config = Llama3_1b5(16);
  const double before = PredictTrainingMemory(config).activations;
  config.model.activation = Activation::kGelu;
  const double ungated = PredictTrainingMemory(config).activations;
  EXPECT_EQ(before - ungated, kBlockRows * 2 * 7168) << "the gate";
  config.model.parallel_residual = true;
  EXPECT_EQ(ungated - PredictTrainingMemory(config).activations, kBlockRows * 2 * 2048)
      << "both halves have one input";
}

// The expected sums were calculated by hand: the bytes per row in each block, for 16 * 2048 rows.
TEST(MemoryModelTest, RecomputationKeepsLess) {
  constexpr double kBlockRows = 18.0 * 16 * 2048;
  RunConfig config = Llama3_1b5(16);
  const double stream = 2 * 2048, heads = 2 * 4096 + 2 * 2048 + 4 * 16, ffn = 2 * 7168;
  EXPECT_EQ(PredictTrainingMemory(config).activations,
            kBlockRows * (4 * stream + heads + 3 * ffn + 8));
  config.layout.recompute = Recompute::kSelective;
  EXPECT_EQ(PredictTrainingMemory(config).activations,
            kBlockRows * (2 * stream + heads + 2 * ffn + 8));
  config.layout.recompute = Recompute::kFull;
  const MemoryPrediction full = PredictTrainingMemory(config);
  EXPECT_EQ(full.activations, kBlockRows * stream);
  EXPECT_GT(full.working, kBlockRows / 18 * (3 * stream + heads + 3 * ffn)) << "one block";
}

TEST(MemoryModelTest, LongDeterministicAttentionNeedsMostWorkingMemory) {
  RunConfig config = Llama3_8b(1);
  const double with = PredictTrainingMemory(config).working;
  EXPECT_GT(with, 3.5e9) << "2 bytes * 32 heads * 8192^2, less what the block has let go of";
  config.train.deterministic = false;
  EXPECT_LT(PredictTrainingMemory(config).working, 2.5e9) << "the head's logits";
}

// There is no fused kernel for fp32, so every block keeps its attention weights.
TEST(MemoryModelTest, AttentionInFp32KeepsItsWeights) {
  RunConfig config = Small162m(32);
  config.train.precision = Precision::kFp32;
  EXPECT_GT(PredictTrainingMemory(config).activations, 12 * 4.0 * 32 * 12 * 1024 * 1024);
}

TEST(MemoryModelTest, SeveralRanksNeedACommunicator) {
  RunConfig config = Small162m(32);
  const MemoryPrediction alone = PredictTrainingMemory(config);
  config.layout.dp = 8;
  const MemoryPrediction together = PredictTrainingMemory(config);
  EXPECT_EQ(together.Tensors(), alone.Tensors());
  EXPECT_GT(together.overhead, alone.overhead);
  EXPECT_EQ(together.Total(), together.Tensors() + together.overhead);
}

TEST(MemoryModelTest, TensorParallelRanksNeedSlotsForCopies) {
  RunConfig config = Small162m(32);
  EXPECT_EQ(ExchangeSlotBytes(config), 0);
  config.layout.tp = 2;
  EXPECT_EQ(ExchangeSlotBytes(config), 32 * 1024 * 768 * 2);
  const double with = PredictTrainingMemory(config).overhead;
  config.layout.sequence_parallel = false;
  EXPECT_EQ(ExchangeSlotBytes(config), 0);
  EXPECT_EQ(with - PredictTrainingMemory(config).overhead, 3 * 32 * 1024 * 768 * 2);
}

}  // namespace
}  // namespace trainyard
