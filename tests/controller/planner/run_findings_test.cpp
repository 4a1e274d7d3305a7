#include "controller/planner/run_findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/controller/planner/run_settings.h"

namespace trainyard::planner {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

RunConfig Config() {
  RunConfig config = Settings(Llama(18, 2048, 7168, 16), 2048, 384, 8).Dp(2).Zero(1).config;
  config.optimizer.lr = 3e-4;
  config.optimizer.clip_grad = 1;
  return config;
}

std::string Rights(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) text += finding.right + "\n";
  return text;
}

TEST(RunFindingsTest, ARunThatIsFastHasNone) {
  EXPECT_THAT(FindSlowness(Config(), {.mfu = 0.4, .expected = 0.95}), IsEmpty());
  EXPECT_THAT(FindSlowness(Config(), {}), IsEmpty()) << "nothing is known";
}

TEST(RunFindingsTest, AWaitForDataComesFirst) {
  const StepWaits waits = {.step = 1, .input = 0.3, .data = 0.4};
  const std::vector<Finding> findings =
      FindSlowness(Config(), {.mfu = 0.15, .expected = 0.5, .waits = waits});
  ASSERT_GE(findings.size(), 2u);
  EXPECT_EQ(findings[0].what, "ranks wait for data");
  EXPECT_EQ(findings[0].why, "30 % of a step");
  EXPECT_THAT(findings[1].why, HasSubstr("40 % of a step"));
  EXPECT_THAT(findings[1].right, HasSubstr("train.global_batch"));
}

TEST(RunFindingsTest, AWaitForDataNeedsNoPrediction) {
  EXPECT_THAT(FindSlowness(Config(), {.waits = {.step = 1, .input = 0.2}}), SizeIs(1));
  EXPECT_THAT(FindSlowness(Config(), {.waits = {.step = 1, .input = 0.04}}), IsEmpty());
}

TEST(RunFindingsTest, WaitsOfAnAxisNameItsSetting) {
  const auto advice = [](StepWaits waits) {
    waits.step = 1;
    return Rights(FindSlowness(Config(), {.expected = 0.5, .waits = waits}));
  };
  EXPECT_THAT(advice({.tensor = 0.3}), HasSubstr("layout.tp"));
  EXPECT_THAT(advice({.context = 0.3}), HasSubstr("layout.cp"));
  EXPECT_THAT(advice({.expert = 0.3}), HasSubstr("layout.ep"));
  EXPECT_THAT(advice({.pipeline = 0.3}), HasSubstr("layout.vpp"));
  EXPECT_THAT(advice({.tensor = 0.1}), HasSubstr("nvidia-smi")) << "no wait is long";
}

TEST(RunFindingsTest, ALowMfuNamesSlowSettings) {
  RunConfig config = Config();
  config.layout.recompute = Recompute::kFull;
  config.layout.zero = 3;
  config.train.attention_backend = AttentionBackend::kManual;
  const std::string rights = Rights(FindSlowness(config, {.mfu = 0.12}));
  EXPECT_THAT(rights, AllOf(HasSubstr("train.attention_backend auto"),
                            HasSubstr("layout.recompute selective"), HasSubstr("layout.zero 1"),
                            HasSubstr("trainyard tune")));
}

TEST(RunFindingsTest, ALossThatStaysIsJudgedByTheDocumentsFigures) {
  EXPECT_THAT(FindWhyLossStays(Config(), 1.0), SizeIs(1));
  EXPECT_EQ(FindWhyLossStays(Config(), 1.0)[0].what, LossIsStagnant().what);
  EXPECT_THAT(FindWhyLossStays(Config(), 7.0)[0].right, HasSubstr("warmup_steps 2000"));
  EXPECT_THAT(FindWhyLossStays(Config(), 0.01)[0].right, HasSubstr("4e-4"));
  RunConfig config = Config();
  config.optimizer.lr = 0.1;
  config.optimizer.clip_grad = 0;
  EXPECT_THAT(FindWhyLossStays(config, 0),
              AllOf(SizeIs(2), Contains(Field(&Finding::why, "optimizer.lr is 0.1")),
                    Contains(Field(&Finding::right, "optimizer.clip_grad 1.0"))));
}

TEST(RunFindingsTest, RiskySettingsAreFoundBeforeTheRun) {
  RunConfig config = Config();
  config.train.steps = 2000;
  config.schedule.warmup_steps = 200;
  EXPECT_THAT(FindRiskySettings(config), IsEmpty());
  config.optimizer.lr = 3e-3;
  EXPECT_THAT(FindRiskySettings(config)[0].what, HasSubstr("high for this model"));
  config.optimizer.lr = 0.1;
  EXPECT_THAT(FindRiskySettings(config), SizeIs(1)) << "one finding for the rate";
  config = Config();
  config.train.steps = 2000;
  config.optimizer.clip_grad = 0;
  EXPECT_THAT(FindRiskySettings(config),
              AllOf(SizeIs(2), Contains(Field(&Finding::right, "optimizer.clip_grad 1.0")),
                    Contains(Field(&Finding::what, "the learning rate has no warm-up"))));
  config.train.steps = 10;
  EXPECT_THAT(FindRiskySettings(config), SizeIs(1)) << "a test run needs no warm-up";
}

TEST(RunFindingsTest, AdviceOnSpikesLeavesOutWhatIsSet) {
  SpikeSettings settings{.clip_grad = 1.0, .lr = 3e-4};
  EXPECT_EQ(LossSpikes(settings).right,
            "`guard: {policy: skip}`, which rolls back and skips the samples of these steps, or an "
            "optimizer.lr below 0.0003");
  settings.skips_samples = true;
  settings.skip_batches = 1;
  settings.clip_grad = 0;
  EXPECT_EQ(LossSpikes(settings).right,
            "guard.skip_batches above 1 (PaLM skipped 200 to 500), or optimizer.clip_grad 1, or an "
            "optimizer.lr below 0.0003");
  EXPECT_THAT(LossIsNotFinite(settings).right, Not(HasSubstr("policy")));
  settings = {.lowers_rate = true};
  EXPECT_EQ(LossSpikes(settings).right, "a lower learning rate") << "another program's";
}

TEST(RunFindingsTest, GeneralAdviceLeavesOutWhatIsSet) {
  RunConfig config = Config();
  config.layout.zero = 1;
  config.layout.recompute = Recompute::kFull;
  EXPECT_THAT(OutOfMemory(config, 0).right,
              AllOf(HasSubstr("layout.zero 3"), Not(HasSubstr("layout.zero 1")),
                    Not(HasSubstr("layout.recompute"))));
  config.schedule.warmup_steps = 5000;
  EXPECT_EQ(FindWhyLossStays(config, 7.0)[0].right, "a lower optimizer.lr");
}

TEST(RunFindingsTest, ToldLackOfMemoryIsRecognized) {
  EXPECT_TRUE(IsOutOfMemory("CUDA out of memory. Tried to allocate 2.00 GiB"));
  EXPECT_TRUE(IsOutOfMemory("The run does not fit into the GPU's memory of 48.0 GB: it"));
  EXPECT_TRUE(IsOutOfMemory("MemoryError\n"));
  EXPECT_TRUE(IsOutOfMemory("slurmstepd: error: Detected 1 oom_kill event in StepId=1.0."));
  EXPECT_FALSE(IsOutOfMemory("rank 0 exited with code 66 (no input)"));
}

TEST(RunFindingsTest, OutOfMemoryNamesSettingsThatFit) {
  RunConfig config = Config();
  config.resources.device = DeviceKind::kGpu;
  config.layout.micro_batch = 64;
  const Finding finding = OutOfMemory(config, 48e9);
  EXPECT_THAT(finding.why, HasSubstr("48.0 GB"));
  EXPECT_THAT(finding.right, HasSubstr("layout.micro_batch to"));
  EXPECT_THAT(OutOfMemory(config, 0).right, HasSubstr("layout.zero 3"));
}

}  // namespace
}  // namespace trainyard::planner
