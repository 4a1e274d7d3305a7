#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <memory>
#include <numeric>

#include "proto/model/model_size.h"
#include "tests/trainer/gpu/accuracy.h"
#include "trainer/step/model_options.h"
#include "trainer/step/step_runner.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr int64_t kRounds = 2;  // Micro-batches per step.

RunConfig SmallGpuRun(Precision precision, Precision moments) {
  RunConfig config;
  config.layout.dp = 1;
  config.layout.micro_batch = 2;
  config.model.num_layers = 2;
  config.model.hidden_size = 128;
  config.model.ffn_hidden_size = 192;
  config.model.num_attention_heads = 2;
  config.model.num_query_groups = 1;
  config.model.vocab_size = 503;
  config.train.seq_length = 128;
  config.train.global_batch = 2 * kRounds;
  config.train.precision = precision;
  config.optimizer.exp_avg_dtype = moments;
  config.optimizer.exp_avg_sq_dtype = moments;
  return config;
}

// A complete run on one GPU. The tokens repeat every four micro-batches.
class GpuRun {
 public:
  explicit GpuRun(const RunConfig& config)
      : config_(config),
        mesh_(config_.layout),
        groups_(ConnectRankGroups(
            mesh_, 0, config_.layout, {.has_experts = HasExperts(config_.model)},
            [](const CommunicatorGroup&) { return MakeSingleProcessCommunicator(Gpu()); })),
        model_(config_.model, ModelOptions(config_, mesh_, 0, groups_, Gpu())),
        optimizer_(config_.optimizer, model_.parameters()),
        clock_(Gpu()),
        presence_(Gpu(), /*interruption=*/nullptr),
        runner_({config_, model_, optimizer_, groups_, clock_, presence_, Gpu()}) {}

  // Runs `steps` steps. Up to `ahead` steps are launched before the oldest one is awaited.
  std::vector<StepResult> Run(int64_t steps, int64_t ahead, double learning_rate) {
    std::vector<StepResult> results;
    for (int64_t i = 0; i < steps; ++i) {
      const StepRequest request{.step = ++step_, .rounds = kRounds, .learning_rate = learning_rate};
      runner_.Launch(
          request, [this] { return NextBatch(); }, [] {});
      if (runner_.pending() > ahead) results.push_back(runner_.Finish());
    }
    while (runner_.pending() > 0) results.push_back(runner_.Finish());
    return results;
  }

  StepResult RunMeasured(double learning_rate) {
    const StepRequest request{
        .step = ++step_, .rounds = kRounds, .learning_rate = learning_rate, .measure = true};
    runner_.Launch(
        request, [this] { return NextBatch(); }, [] {});
    return runner_.Finish();
  }

  ParameterStore& parameters() { return model_.parameters(); }

  StepRunner& runner() { return runner_; }

  // Returns all data that a step changes.
  std::vector<Tensor> State() {
    const auto copy = [](const Tensor& state) { return state.defined() ? state.clone() : state; };
    return {parameters().values().clone(), copy(parameters().low_bits()),
            copy(parameters().masters()), optimizer_.first_moment().clone(),
            optimizer_.second_moment().clone()};
  }

  TokenBatch NextBatch() {
    TokenBatch batch;
    batch.number = batch_++;
    batch.row_tokens = config_.train.seq_length + 1;
    for (int64_t row = 0; row < config_.layout.micro_batch; ++row) {
      const int64_t sample = (batch.number * config_.layout.micro_batch + row) % 8;
      batch.samples.push_back(sample);
      for (int64_t i = 0; i < batch.row_tokens; ++i) {
        batch.tokens.push_back((sample * 131 + i * (i + 3)) % config_.model.vocab_size);
      }
    }
    return batch;
  }

 private:
  const RunConfig config_;
  const Mesh mesh_;
  const RankGroups groups_;
  Decoder model_;
  AdamW optimizer_;
  StepClock clock_;
  const Presence presence_;
  StepRunner runner_;
  int64_t step_ = 0;
  int64_t batch_ = 0;
};

void ExpectSameState(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(!a[i].defined() || SameBits(a[i], b[i])) << "part " << i;
  }
}

void ExpectSameSteps(const std::vector<StepResult>& a, const std::vector<StepResult>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].step, b[i].step);
    EXPECT_EQ(a[i].loss, b[i].loss) << "step " << a[i].step;
    EXPECT_EQ(a[i].grad_norm, b[i].grad_norm) << "step " << a[i].step;
  }
}

// Some runs launch a step before the previous one has finished. The new step must not reuse memory
// that the previous step still uses.
void ExpectSameBitsForEveryRunOfSteps(const RunConfig& config) {
  GpuRun first(config);
  const std::vector<StepResult> expected = first.Run(20, /*ahead=*/0, 1e-3);
  ASSERT_EQ(expected.size(), 20U);
  for (const StepResult& result : expected) EXPECT_TRUE(result.is_finite);
  EXPECT_LT(expected.back().loss, 0.95 * expected.front().loss);
  for (const int64_t ahead : {0, 1, 3}) {
    SCOPED_TRACE("steps ahead: " + std::to_string(ahead));
    GpuRun again(config);
    ExpectSameSteps(again.Run(20, ahead, 1e-3), expected);
    ExpectSameState(again.State(), first.State());
  }
}

TEST(StepRunnerGpuTest, PartsOfAStepAddUpToItOnTheDevice) {
  GpuRun run(SmallGpuRun(Precision::kBf16, Precision::kFp32));
  run.Run(3, /*ahead=*/1, 1e-3);
  const auto start = std::chrono::steady_clock::now();
  const StepResult result = run.RunMeasured(1e-3);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ASSERT_TRUE(result.times.has_value());
  EXPECT_GT(TimeOf(*result.times, StepPart::kCompute), 0);
  EXPECT_GT(TimeOf(*result.times, StepPart::kOptimizer), 0);
  EXPECT_EQ(TimeOf(*result.times, StepPart::kTensorWait), 0);
  EXPECT_LT(std::accumulate(result.times->begin(), result.times->end(), 0.0), seconds);
  for (const StepResult& plain : run.Run(2, /*ahead=*/1, 1e-3)) EXPECT_FALSE(plain.times);
}

TEST(StepRunnerGpuTest, EveryRunHasTheSameBits) {
  ExpectSameBitsForEveryRunOfSteps(SmallGpuRun(Precision::kBf16, Precision::kFp32));
}

TEST(StepRunnerGpuTest, EveryRunHasTheSameBitsInFp16) {
  ExpectSameBitsForEveryRunOfSteps(SmallGpuRun(Precision::kFp16, Precision::kFp32));
}

TEST(StepRunnerGpuTest, EveryRunHasTheSameBitsInSinglePrecision) {
  ExpectSameBitsForEveryRunOfSteps(SmallGpuRun(Precision::kFp32, Precision::kFp32));
}

TEST(StepRunnerGpuTest, EveryRunHasTheSameBitsWithSixteenBitMoments) {
  ExpectSameBitsForEveryRunOfSteps(SmallGpuRun(Precision::kBf16, Precision::kBf16));
}

TEST(StepRunnerGpuTest, ALossThatIsNotANumberChangesNoWeight) {
  for (const Precision precision : {Precision::kBf16, Precision::kFp32}) {
    GpuRun run(SmallGpuRun(precision, Precision::kFp32));
    EXPECT_TRUE(run.Run(2, 1, 1e-3).back().is_finite);
    run.parameters().Value(0)[5] = std::nan("");  // Weight of the last norm.
    const std::vector<Tensor> before = run.State();
    for (const StepResult& result : run.Run(3, 1, 1e-3)) {
      EXPECT_FALSE(result.is_finite);
      EXPECT_TRUE(std::isnan(result.loss));
    }
    ExpectSameState(run.State(), before);
  }
}

// One step has finite values but makes a weight infinite. The runner may launch later steps before
// it knows this. Those steps must not change any weight.
TEST(StepRunnerGpuTest, StepsBehindAnInfiniteUpdateChangeNoWeight) {
  const RunConfig config = SmallGpuRun(Precision::kBf16, Precision::kFp32);
  const double infinity = std::numeric_limits<double>::infinity();
  GpuRun one(config), three(config);
  one.Run(1, 0, infinity);
  const std::vector<StepResult> results = three.Run(3, 3, infinity);
  EXPECT_TRUE(results[0].is_finite);
  EXPECT_FALSE(results[1].is_finite);
  EXPECT_FALSE(results[2].is_finite);
  ExpectSameState(three.State(), one.State());
}

TEST(StepRunnerGpuTest, RequestsComeBackWithTheStep) {
  GpuRun run(SmallGpuRun(Precision::kBf16, Precision::kFp32));
  const auto next = [&run] { return run.NextBatch(); };
  int updates = 0;
  for (const bool stop : {false, true}) {
    const StepRequest request{
        .step = 1, .rounds = kRounds, .learning_rate = 0.25, .stop = stop, .save = !stop};
    run.runner().Launch(request, next, [&updates] { ++updates; });
    const StepResult result = run.runner().Finish();
    EXPECT_EQ(result.stop, stop);
    EXPECT_EQ(result.save, !stop);
    EXPECT_EQ(result.learning_rate, 0.25);
  }
  EXPECT_EQ(updates, 2);
}

}  // namespace
}  // namespace trainyard::trainer
