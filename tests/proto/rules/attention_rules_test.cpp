#include "proto/rules/attention_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

using testing::HasSubstr;

RunConfig OnGpu() {
  RunConfig config;
  config.resources.device = DeviceKind::kGpu;
  config.train.precision = Precision::kBf16;
  config.train.seq_length = 32;
  config.model.vocab_size = 256;
  return config;
}

RunConfig With(AttentionBackend backend, RunConfig config) {
  config.train.attention_backend = backend;
  return config;
}

std::string ProblemOf(const RunConfig& config) {
  const auto problems = FindAttentionProblems(config);
  if (problems.empty()) return "";
  EXPECT_EQ(problems[0].key, "train.attention_backend");
  return problems[0].message;
}

TEST(AttentionRulesTest, FusedAttentionComputesInFp16Too) {
  RunConfig config = OnGpu();
  config.train.precision = Precision::kFp16;
  EXPECT_EQ(AttentionBackendOf(config), AttentionBackend::kCudnn);
  config.data.reset_attention_mask = true;
  config.data.eod_token = 0;
  EXPECT_EQ(AttentionBackendOf(config), AttentionBackend::kManual);
  EXPECT_THAT(ProblemOf(With(AttentionBackend::kCudnn, config)), HasSubstr("in fp16"));
}

TEST(AttentionRulesTest, AutoIsCudnnWhereItCanBe) {
  RunConfig config = OnGpu();
  EXPECT_EQ(AttentionBackendOf(config), AttentionBackend::kCudnn);
  config.model.window_size = 16;
  EXPECT_EQ(AttentionBackendOf(config), AttentionBackend::kCudnn);
  config.layout.cp = 2;
  EXPECT_EQ(AttentionBackendOf(config), AttentionBackend::kManual);
  config.model.window_size = 32;  // Hides nothing.
  EXPECT_EQ(AttentionBackendOf(config), AttentionBackend::kCudnn);
  config.data.reset_attention_mask = true;
  EXPECT_EQ(AttentionBackendOf(config), AttentionBackend::kManual);
  config.layout.cp = 1;
  EXPECT_EQ(AttentionBackendOf(config), AttentionBackend::kCudnn);
  config = OnGpu();
  config.train.precision = Precision::kFp32;
  EXPECT_EQ(AttentionBackendOf(config), AttentionBackend::kManual);
  config = OnGpu();
  config.resources.device = DeviceKind::kCpu;
  EXPECT_EQ(AttentionBackendOf(config), AttentionBackend::kManual);
  EXPECT_EQ(NameOf(AttentionBackend::kCudnn), "cudnn");
}

TEST(AttentionRulesTest, LatentAttentionHasCudnnWithoutLimits) {
  RunConfig config = OnGpu();
  config.train.deterministic = false;
  config.model.kv_lora_rank = 16;
  EXPECT_EQ(AttentionBackendOf(config), AttentionBackend::kCudnn);
  EXPECT_EQ(ProblemOf(With(AttentionBackend::kSdpa, config)),
            "`train.attention_backend` sdpa does not support `model.multi_latent_attention`; set "
            "it to auto, cudnn or manual");
  config.model.window_size = 16;
  EXPECT_EQ(AttentionBackendOf(config), AttentionBackend::kManual);
  config.model.window_size = 0;
  config.data.reset_attention_mask = true;
  EXPECT_EQ(AttentionBackendOf(config), AttentionBackend::kManual);
}

TEST(AttentionRulesTest, ABackendThatCannotIsRefusedWithThoseThatCan) {
  RunConfig config = OnGpu();
  EXPECT_EQ(ProblemOf(With(AttentionBackend::kCudnn, config)), "");
  EXPECT_EQ(ProblemOf(With(AttentionBackend::kFlash, config)),
            "`train.attention_backend` flash is not bitwise reproducible (`train.deterministic` is "
            "true); set it to auto, cudnn or manual");
  config.train.deterministic = false;
  EXPECT_EQ(ProblemOf(With(AttentionBackend::kFlash, config)), "");
  EXPECT_EQ(ProblemOf(With(AttentionBackend::kSdpa, config)), "");
  config.model.window_size = 8;
  EXPECT_EQ(ProblemOf(With(AttentionBackend::kFlash, config)), "");
  EXPECT_THAT(ProblemOf(With(AttentionBackend::kSdpa, config)),
              HasSubstr("does not support `model.window_size`; set it to auto, cudnn, flash or "));
  config.layout.cp = 2;
  EXPECT_THAT(ProblemOf(With(AttentionBackend::kFlash, config)), HasSubstr("context parallelism"));
  EXPECT_THAT(ProblemOf(With(AttentionBackend::kCudnn, config)),
              HasSubstr("with context parallelism"));
  config.layout.cp = 1;
  config.train.precision = Precision::kFp32;
  EXPECT_THAT(ProblemOf(With(AttentionBackend::kFlash, config)), HasSubstr("bf16 and fp16 only"));
  config.model.window_size = 0;
  EXPECT_EQ(ProblemOf(With(AttentionBackend::kSdpa, config)), "");
  config.resources.device = DeviceKind::kCpu;
  for (const auto backend :
       {AttentionBackend::kCudnn, AttentionBackend::kFlash, AttentionBackend::kSdpa}) {
    EXPECT_THAT(ProblemOf(With(backend, config)),
                HasSubstr("is for GPUs (`resources.device` is cpu); set it to auto or manual"));
  }
  EXPECT_EQ(ProblemOf(With(AttentionBackend::kManual, config)), "");
  config = OnGpu();
  config.train.deterministic = false;
  config.data.reset_attention_mask = true;
  EXPECT_EQ(ProblemOf(With(AttentionBackend::kCudnn, config)), "");
  for (const auto backend : {AttentionBackend::kFlash, AttentionBackend::kSdpa}) {
    EXPECT_THAT(ProblemOf(With(backend, config)),
                HasSubstr("does not support `data.reset_attention_mask`"));
  }
  config.layout.cp = 2;
  EXPECT_THAT(ProblemOf(With(AttentionBackend::kCudnn, config)),
              HasSubstr("does not support `data.reset_attention_mask`"));
}

TEST(AttentionRulesTest, AnEndTokenIsInTheVocabularyAndHasAUse) {
  RunConfig config = OnGpu();
  EXPECT_TRUE(FindDocumentProblems(config).empty());
  config.data.eod_token = 3;
  ASSERT_EQ(FindDocumentProblems(config).size(), 1U);
  EXPECT_THAT(FindDocumentProblems(config)[0].message, HasSubstr("has no effect without"));
  config.data.eod_mask_loss = true;
  EXPECT_TRUE(FindDocumentProblems(config).empty());
  config.data.eod_token = 256;
  ASSERT_EQ(FindDocumentProblems(config).size(), 1U);
  EXPECT_EQ(FindDocumentProblems(config)[0].message,
            "`data.eod_token` (256) must be below `model.vocab_size` (256)");
}

}  // namespace
}  // namespace trainyard
