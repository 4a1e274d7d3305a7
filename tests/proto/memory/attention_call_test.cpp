#include "proto/memory/attention_call.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

// LLaMA-3 8B with samples of 32,768 tokens over four ranks.
RunConfig LongSamples() {
  RunConfig config;
  config.model = {.num_layers = 32,
                  .hidden_size = 4096,
                  .ffn_hidden_size = 14336,
                  .num_attention_heads = 32,
                  .num_query_groups = 8,
                  .vocab_size = 128256};
  config.train.seq_length = 32768;
  config.layout.cp = 4;
  return config;
}

TEST(AttentionCallTest, TheLargestCallIsThatOfTheRank) {
  RunConfig config = LongSamples();
  EXPECT_EQ(LargestCallOf(config).scores, 16.0 * 8192 * 8192) << "a ring, half of the heads";
  EXPECT_EQ(LargestCallOf(config).share, 0.5);
  config.train.seq_length = 131072;
  EXPECT_EQ(LargestCallOf(config).scores, 4.0 * 16384 * 16384) << "half of the tokens of a rank";
  EXPECT_EQ(LargestCallOf(config).share, 1.0 / 16);
  config.train.seq_length = 8192;
  EXPECT_EQ(LargestCallOf(config).scores, 4.0 * 8192 * 8192) << "one of two key heads";
  EXPECT_EQ(LargestCallOf(config).share, 0.5);
  config.layout.cp = 1;
  EXPECT_EQ(LargestCallOf(config).scores, 32.0 * 8192 * 8192) << "one rank divides nothing";
  EXPECT_EQ(LargestCallOf(config).share, 1);
}

}  // namespace
}  // namespace trainyard
