#include "proto/model/model_fingerprint.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace trainyard {
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

// Checkpoints of earlier versions contain this fingerprint.
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

TEST(ModelFingerprintTest, InitialSpreadsDoNotMatterOnceTheWeightsAreThere) {
  ModelConfig model = Small();
  model.init_method_std = 0.5;
  model.output_layer_init_method_std = 0.25;
  model.moe_router_force_load_balancing = true;
  EXPECT_EQ(ModelFingerprint(model), ModelFingerprint(Small()));
}

TEST(ModelFingerprintTest, SettingsOfOtherFamiliesMakeAnotherModel) {
  ModelConfig models[7] = {Small(), Small(), Small(), Small(), Small(), Small(), Small()};
  models[1].add_bias_linear = true;
  models[2].activation = Activation::kGelu;
  models[3].position_embedding_type = PositionEmbedding::kLearnedAbsolute;
  models[3].max_position_embeddings = 16;
  models[4].rotary_percent = 0.5;
  models[5].parallel_residual = true;
  models[6].add_qkv_bias = true;
  std::set<std::string> fingerprints;
  for (const ModelConfig& model : models) fingerprints.insert(ModelFingerprint(model));
  EXPECT_EQ(fingerprints.size(), 7u);
}

}  // namespace
}  // namespace trainyard
