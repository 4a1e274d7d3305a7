#include "proto/rules/fp8_products.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

RunConfig Llama() {
  RunConfig config;
  config.train.fp8 = Fp8Recipe::kDelayed;
  config.train.seq_length = 64;
  config.model.num_layers = 2;
  config.model.hidden_size = 64;
  config.model.ffn_hidden_size = 128;
  config.model.num_attention_heads = 4;
  config.model.num_query_groups = 2;
  return config;
}

RunConfig ModelOfExperts() {
  RunConfig config = Llama();
  config.model.num_experts = 4;
  config.model.moe_router_topk = 2;
  config.model.moe_ffn_hidden_size = 32;
  config.model.moe_dense_layers = 1;
  return config;
}

TEST(Fp8ProductsTest, AllMatricesOfADenseBlockUseFp8) {
  EXPECT_THAT(Fp8MatricesOf(Llama(), BlockKind::kDense), ElementsAre(true, true, true, true));
  EXPECT_EQ(Fp8WeightsOf(Llama(), BlockKind::kDense), 64 * (64 + 64 + 64 + 3 * 128));
  EXPECT_THAT(
      DescribeFp8Products(Llama()),
      ElementsAre("query, key and value projection: FP8", "attention output projection: FP8",
                  "up projection: FP8", "down projection: FP8"));
}

TEST(Fp8ProductsTest, NothingUsesFp8WithoutTheSetting) {
  RunConfig config = Llama();
  config.train.fp8 = Fp8Recipe::kNone;
  EXPECT_THAT(Fp8MatricesOf(config, BlockKind::kDense), ElementsAre(false, false, false, false));
  EXPECT_EQ(Fp8WeightsOf(config, BlockKind::kDense), 0);
  EXPECT_THAT(DescribeFp8Products(config), IsEmpty());
}

TEST(Fp8ProductsTest, AWidthThatIsNoMultipleOf16FallsBack) {
  RunConfig config = Llama();
  config.model.ffn_hidden_size = 120;
  EXPECT_THAT(Fp8MatricesOf(config, BlockKind::kDense), ElementsAre(true, true, true, false));
  EXPECT_EQ(
      DescribeFp8Products(config).back(),
      "down projection: not in FP8, because the input width on a rank (120) is not a multiple "
      "of 16");
}

// 64 = 4 x 16, but the output of the up projection of each rank is 2 x 12 = 24.
TEST(Fp8ProductsTest, EachTensorParallelRankCounts) {
  RunConfig config = Llama();
  config.layout.tp = 4;
  config.model.ffn_hidden_size = 48;
  EXPECT_THAT(Fp8MatricesOf(config, BlockKind::kDense), ElementsAre(true, true, false, false));
  EXPECT_EQ(Fp8WeightsOf(config, BlockKind::kDense), 64 * (16 + 2 * 16 + 16));
  config.model.ffn_hidden_size = 63;  // The last rank has 15, and all others have 16.
  EXPECT_THAT(Fp8MatricesOf(config, BlockKind::kDense), ElementsAre(true, true, false, false));
}

TEST(Fp8ProductsTest, TheRowsOfASampleCount) {
  RunConfig config = Llama();
  config.layout.tp = config.layout.cp = 2;
  config.train.seq_length = 32;
  EXPECT_THAT(Fp8MatricesOf(config, BlockKind::kDense), ElementsAre(false, false, false, false));
  EXPECT_EQ(DescribeFp8Products(config).front(),
            "query, key and value projection: not in FP8, because the number of tokens of a sample "
            "on a rank (8) is not a multiple of 16");
  config.layout.sequence_parallel = false;
  EXPECT_THAT(Fp8MatricesOf(config, BlockKind::kDense), ElementsAre(true, true, true, true));
}

TEST(Fp8ProductsTest, SharedExpertsUseFp8AndRoutedExpertsDoNot) {
  RunConfig config = ModelOfExperts();
  EXPECT_THAT(Fp8MatricesOf(config, BlockKind::kExpert), ElementsAre(true, true, false, false));
  config.model.moe_shared_expert_intermediate_size = 32;
  EXPECT_THAT(Fp8MatricesOf(config, BlockKind::kExpert), ElementsAre(true, true, true, true));
  EXPECT_EQ(Fp8WeightsOf(config, BlockKind::kExpert), 64 * (64 + 64 + 64 + 3 * 32));
  EXPECT_THAT(
      DescribeFp8Products(config),
      ElementsAre("query, key and value projection: FP8", "attention output projection: FP8",
                  "up projection: FP8", "shared expert, up projection: FP8", "down projection: FP8",
                  "shared expert, down projection: FP8", "routed experts: not in FP8"));
}

TEST(Fp8ProductsTest, LatentAttentionDoesNotUseFp8) {
  RunConfig config = Llama();
  config.model.kv_lora_rank = 16;
  EXPECT_THAT(Fp8MatricesOf(config, BlockKind::kDense), ElementsAre(false, false, true, true));
  EXPECT_EQ(DescribeFp8Products(config).front(), "latent attention: not in FP8");
}

}  // namespace
}  // namespace trainyard
