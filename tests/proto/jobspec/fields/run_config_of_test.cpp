#include "proto/jobspec/fields/run_config_of.h"

#include "gtest/gtest.h"

namespace trainyard {
namespace {

TEST(RunConfigOfTest, CopiesSettingsOfEveryType) {
  // Every value differs from its default. Large
  // values do not fit into a narrower type.
  v1::JobSpec spec;
  spec.set_name("mine");
  spec.mutable_model()->set_num_layers(3);
  spec.mutable_model()->set_untie_embeddings_and_output_weights(false);
  spec.mutable_train()->set_tokens(20'000'000'000);
  spec.mutable_train()->set_seed(UINT64_MAX);
  spec.mutable_train()->set_precision(v1::PRECISION_FP32);
  spec.mutable_optimizer()->set_lr(0.5);
  spec.mutable_data()->set_path("/data");
  const RunConfig config = RunConfigOf(spec);
  EXPECT_EQ(config.name, "mine");
  EXPECT_EQ(config.model.num_layers, 3);
  EXPECT_FALSE(config.model.untie_embeddings_and_output_weights);
  EXPECT_EQ(config.train.tokens, 20'000'000'000);
  EXPECT_EQ(config.train.seed, UINT64_MAX);
  EXPECT_EQ(config.train.precision, Precision::kFp32);
  EXPECT_EQ(config.optimizer.lr, 0.5);
  EXPECT_EQ(config.data.path, "/data");
  EXPECT_EQ(config.schedule, ScheduleConfig{}) << "what is not set keeps its default";
}

TEST(RunConfigOfTest, CopySettingSetsOnlyASettingThatIsUnset) {
  RunConfig config;
  config.train.steps = 5'000'000'000;
  config.layout.dp = 8;
  v1::JobSpec spec;
  EXPECT_TRUE(CopySetting(config, "train.steps", spec));
  EXPECT_TRUE(CopySetting(config, "layout.dp", spec));
  config.layout.dp = 9;
  EXPECT_FALSE(CopySetting(config, "layout.dp", spec)) << "it is set";
  EXPECT_EQ(spec.train().steps(), 5'000'000'000);
  EXPECT_EQ(spec.layout().dp(), 8);
  EXPECT_FALSE(spec.layout().has_tp());
}

}  // namespace
}  // namespace trainyard
