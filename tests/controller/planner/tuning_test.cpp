#include "controller/planner/tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "controller/planner/layout_search.h"
#include "proto/rules/attention_rules.h"
#include "proto/rules/run_rules.h"
#include "tests/controller/planner/run_settings.h"

namespace trainyard::planner {
namespace {

using ::testing::HasSubstr;

// The recipe llama3-1.5b, for two GPUs with 48 GB each.
RunSettings Recipe() {
  RunSettings run = Settings(Llama(18, 2048, 7168, 16), 2048, 384, 8).Dp(2).Zero(1);
  run.config.resources = {.nodes = 1, .slots_per_node = 2, .device = DeviceKind::kGpu};
  run.per_node = 2;
  run.config.model.vocab_size = 128256;
  return run;
}

TunePlan PlanFor(const RunSettings& run, const std::string& device = "A6000", int64_t most = 8) {
  return PlanTuning(run.config, ClusterOf(device, run), most);
}

TEST(TuningTest, BeginsWithTheSettingsAsTheyAre) {
  const RunSettings run = Recipe();
  const TunePlan plan = PlanFor(run);
  EXPECT_EQ(plan.candidates.front().reason, TuneReason::kOwn);
  EXPECT_EQ(plan.candidates.front().layout, run.config.layout);
  EXPECT_LE(plan.candidates.size(), 8u);
  EXPECT_GT(plan.considered, 100);
}

TEST(TuningTest, CandidatesFitAreAllowedAndDiffer) {
  const RunSettings run = Recipe();
  const Cluster cluster = ClusterOf("A6000", run);
  std::set<std::string> texts;
  for (const TuneCandidate& candidate : PlanFor(run).candidates) {
    const RunConfig config = WithCandidate(run.config, candidate);
    EXPECT_TRUE(FindTrainingProblems(config).empty());
    EXPECT_EQ(FitsInto(candidate.memory, *cluster.device),
              candidate.reason != TuneReason::kBeyondMemory);
    EXPECT_EQ(config.layout.tp * config.layout.dp, 2) << "the model stays divided as it is";
    EXPECT_TRUE(texts.insert(CandidateText(run.config, candidate)).second);
  }
}

TEST(TuningTest, TriesEachRecomputationAndTheFastestFirst) {
  const TunePlan plan = PlanFor(Recipe());
  std::set<Recompute> kinds;
  for (const TuneCandidate& candidate : plan.candidates) kinds.insert(candidate.layout.recompute);
  EXPECT_EQ(kinds.size(), 3u);
  for (size_t i = 2; i + 1 < plan.candidates.size(); ++i) {
    EXPECT_LE(plan.candidates[i - 1].predicted.Total(), plan.candidates[i].predicted.Total());
  }
}

TEST(TuningTest, OneStepBeyondTheMemoryComesLast) {
  const RunSettings run = Recipe();
  const TunePlan plan = PlanFor(run);
  const TuneCandidate& beyond = plan.candidates.back();
  EXPECT_EQ(beyond.reason, TuneReason::kBeyondMemory);
  EXPECT_GT(plan.too_large, 0);
  // The run fits with the next smaller micro-batch that divides the batch size.
  RunConfig smaller = WithCandidate(run.config, beyond);
  do {
    --smaller.layout.micro_batch;
  } while (192 % smaller.layout.micro_batch != 0);
  int64_t stage = 0;
  EXPECT_TRUE(FitsInto(PeakMemory(smaller, stage), *FindDeviceSpec("A6000")));
}

TEST(TuningTest, ALimitOfRunsIsKept) {
  EXPECT_EQ(PlanFor(Recipe(), "A6000", 2).candidates.size(), 2u);
  EXPECT_EQ(PlanFor(Recipe(), "A6000", 4).candidates.size(), 4u);
}

TEST(TuningTest, ACpuHasNoLimitOfMemory) {
  RunSettings run = Recipe();
  run.config.resources.device = DeviceKind::kCpu;
  run.config.train.precision = Precision::kFp32;
  Cluster cluster = ClusterOf("A6000", run);
  cluster.device = &CpuSlotSpec();
  const TunePlan plan = PlanTuning(run.config, cluster, 6);
  EXPECT_EQ(plan.too_large, 0);
  EXPECT_NE(plan.candidates.back().reason, TuneReason::kBeyondMemory);
}

TEST(TuningTest, OneRankIsNotSharded) {
  RunSettings run = Settings(Llama(18, 2048, 7168, 16), 2048, 8, 1);
  run.per_node = 1;
  const TunePlan plan = PlanFor(run, "H200");
  for (const TuneCandidate& candidate : plan.candidates) EXPECT_EQ(candidate.layout.zero, 0);
  EXPECT_THAT(CandidateText(run.config, plan.candidates.front()),
              HasSubstr("micro_batch 1 x 8, recompute none, attention"));
}

TEST(TuningTest, OtherAttentionIsWhatCanComputeTheRun) {
  RunSettings run = Recipe();
  const TuneCandidate own = PlanFor(run).candidates.front();
  for (const TuneCandidate& other : OtherAttention(run.config, own)) {
    const RunConfig config = WithCandidate(run.config, other);
    EXPECT_TRUE(FindAttentionProblems(config).empty());
    EXPECT_NE(AttentionBackendOf(config), AttentionBackendOf(run.config));
    EXPECT_EQ(other.layout, own.layout);
    EXPECT_EQ(other.reason, TuneReason::kAttention);
  }
  EXPECT_FALSE(OtherAttention(run.config, own).empty());
}

TuneResult Result(double rate, double bytes, const std::string& failure = "") {
  TuneResult result;
  result.tokens_per_second = rate;
  result.memory_bytes = bytes;
  result.failure = failure;
  result.out_of_memory = failure == "out of memory";
  result.candidate.memory.weights = bytes;
  return result;
}

TEST(TuningTest, AnUnattendedSweepEndsWithOtherAttentionOfTheFastestThatFits) {
  const RunSettings run = Recipe();
  const Cluster cluster = ClusterOf("A6000", run);
  const TunePlan attended = PlanTuning(run.config, cluster, 8);
  const TunePlan plan = PlanUnattended(run.config, cluster, 8);
  ASSERT_GT(plan.candidates.size(), attended.candidates.size());
  for (size_t i = 0; i < attended.candidates.size(); ++i) {
    EXPECT_EQ(plan.candidates[i].layout, attended.candidates[i].layout);
  }
  const auto fastest =
      std::ranges::min_element(attended.candidates, {}, [&](const TuneCandidate& candidate) {
        return FitsInto(candidate.memory, *cluster.device) ? candidate.predicted.Total() : 1e9;
      });
  for (size_t i = attended.candidates.size(); i < plan.candidates.size(); ++i) {
    EXPECT_EQ(plan.candidates[i].reason, TuneReason::kAttention);
    EXPECT_EQ(plan.candidates[i].layout, fastest->layout);
  }
}

// The given settings would be fast, but require too much memory.
TEST(TuningTest, AnUnattendedSweepComparesNoAttentionOfSettingsThatDoNotFit) {
  RunSettings run = Recipe();
  run.config.layout.micro_batch = 192;
  const Cluster cluster = ClusterOf("A6000", run);
  const TunePlan plan = PlanUnattended(run.config, cluster, 8);
  ASSERT_FALSE(FitsInto(plan.candidates.front().memory, *cluster.device));
  ASSERT_EQ(plan.candidates.back().reason, TuneReason::kAttention);
  EXPECT_TRUE(FitsInto(plan.candidates.back().memory, *cluster.device));
}

TEST(TuningTest, TheFastestIsChosenAndOfEquallyFastTheSmallest) {
  EXPECT_EQ(ChooseResult({Result(100, 9), Result(120, 20), Result(119.5, 10), Result(110, 1)}), 2u);
  EXPECT_EQ(ChooseResult({Result(100, 0), Result(100.5, 0)}), 1u) << "memory is not known";
  EXPECT_EQ(ChooseResult({Result(100, 9), Result(500, 9, "out of memory")}), 0u);
  EXPECT_EQ(ChooseResult({Result(500, 9, "exited")}), std::nullopt);
}

TEST(TuningTest, TheLimitLiesBetweenWhatRanAndWhatDidNot) {
  const std::vector<TuneResult> results = {Result(1, 30), Result(1, 40),
                                           Result(1, 60, "out of memory"),
                                           Result(1, 50, "out of memory"), Result(1, 45, "exited")};
  const MemoryLimit limit = FindMemoryLimit(results);
  EXPECT_EQ(limit.largest, &results[1]);
  EXPECT_EQ(limit.smallest_failed, &results[3]);
  EXPECT_EQ(FindMemoryLimit({}).largest, nullptr);
}

}  // namespace
}  // namespace trainyard::planner
