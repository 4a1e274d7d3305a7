#include "trainer/config/model_fingerprint.h"

#include <gtest/gtest.h>

namespace trainyard::trainer {
namespace {

ModelConfig Small() {
  ModelConfig model;
  model.num_layers = 2;
  model.hidden_size = 32;
  model.ffn_hidden_size = 64;
  model.num_attention_heads = 4;
  model.num_query_groups = 2;
  model.vocab_size = 64;
  return model;
}

// Checkpoints of earlier versions have this text.
TEST(ModelFingerprintTest, AModelWithoutLaterSettingsHasTheFingerprintOfEarlierVersions) {
  EXPECT_EQ(ModelFingerprint(Small()),
            R"({"ffn_hidden_size":64,"hidden_size":32,"norm_epsilon":1e-05,)"
            R"("num_attention_heads":4,"num_layers":2,"num_query_groups":2,"rotary_base":10000.0,)"
            R"("untie_embeddings_and_output_weights":true,"vocab_size":64})");
}

TEST(ModelFingerprintTest, LaterSettingsMakeAnotherModel) {
  ModelConfig model = Small();
  model.qk_layernorm = true;
  EXPECT_NE(ModelFingerprint(model), ModelFingerprint(Small()));
  model = Small();
  model.rope_scaling_factor = 8;
  EXPECT_NE(ModelFingerprint(model), ModelFingerprint(Small()));
  model = Small();
  model.kv_channels = 16;
  EXPECT_NE(ModelFingerprint(model), ModelFingerprint(Small()));
}

}  // namespace
}  // namespace trainyard::trainer
