// Tests layouts on GPUs. Every rank is a thread of this process. On one GPU, the ranks take turns
// and exchange data through GPU memory. On several GPUs, each rank has its own GPU and uses NCCL.
#include <ATen/Parallel.h>
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "proto/model/model_size.h"
#include "tests/trainer/gpu/accuracy.h"
#include "tests/trainer/parallel/run_ranks.h"
#include "tests/trainer/step/layout_cases.h"
#include "tests/trainer/step/layout_run.h"
#include "trainer/parallel/device/device.h"
#include "trainer/start/attention_choice.h"

namespace trainyard::trainer {
namespace {

// With latent attention, from the tenth step on, a difference of one rounding grows tenfold every
// two steps. This also happens on CPUs, and between two micro-batch sizes in one process.
int64_t StepsOf(const ModelConfig& model) {
  return HasExperts(model) || HasLatentAttention(model) ? 8 : 20;
}

// Returns the maximum ratio of a layout's error in bf16 to the error of one process. With experts,
// rounding to bf16 changes the experts of some tokens, and each layout rounds differently.
double LargestErrorRatio(const ModelConfig& model) { return HasExperts(model) ? 2.0 : 1.7; }

// Gives latent attention the head sizes of DeepSeek-V3.
void WidenLatentHeads(ModelConfig& model) {
  if (!model.multi_latent_attention) return;
  if (model.q_lora_rank > 0) model.q_lora_rank = 96;
  model.kv_lora_rank = 64;
  model.qk_head_dim = model.v_head_dim = 128;
  model.qk_pos_emb_head_dim = 64;
}

// Returns the layout's settings with sizes that the kernels support. Heads have size 64, or size 96
// in layouts that set a head size other than hidden_size / heads.
RunConfig GpuRunOf(const LayoutCase& layout, Precision precision) {
  RunConfig config = SmallRun();
  layout.edit(config);
  const int64_t heads = config.model.num_attention_heads;
  config.model.hidden_size = 64 * heads;
  config.model.ffn_hidden_size = 96 * heads;
  if (config.model.kv_channels > 0) config.model.kv_channels = 96;
  WidenLatentHeads(config.model);
  config.model.init_method_std = 0.05;
  config.optimizer.lr = 5e-4;
  config.train.seq_length *= 8;
  config.model.max_position_embeddings *= 8;
  config.train.precision = precision;
  config.resources.device = DeviceKind::kGpu;
  OpenDevice(DeviceKind::kGpu, 0);
  config.train.attention_backend = ChooseAttention(config);
  return config;
}

// Returns the settings of one process with the micro-batches that a balance loss needs
// (MixtralWithAuxLoss in layout_cases.cpp). Other cases have smaller micro-batches.
RunConfig OnOneProcess(const RunConfig& config) {
  RunConfig alone = config;
  alone.layout = SmallRun().layout;
  alone.layout.micro_batch = 4;
  return alone;
}

// Opens the GPU of the calling rank's thread. The thread then computes on one CPU core. With more,
// the ranks would spin while they wait for each other's cores.
torch::Device OpenGpu(int64_t index) {
  at::set_num_threads(1);
  return OpenDevice(DeviceKind::kGpu, index);
}

// Runs all ranks on GPU 0. Several ranks take turns.
LayoutMachine OneGpu() {
  return {.open_device = [](int64_t) { return OpenGpu(0); }, .takes_turns = true};
}

// Returns the one-process run to compare with. Caches runs by their settings, because several
// layouts share a reference.
const LayoutRun& Reference(const RunConfig& config, bool masked) {
  static std::vector<std::pair<std::pair<RunConfig, bool>, std::unique_ptr<LayoutRun>>> runs;
  const RunConfig alone = OnOneProcess(config);
  for (const auto& [key, run] : runs) {
    if (key.first == alone && key.second == masked) return *run;
  }
  auto run = std::make_unique<LayoutRun>(RunLayout(alone, StepsOf(alone.model), masked, OneGpu()));
  return *runs.emplace_back(std::make_pair(alone, masked), std::move(run)).second;
}

double Relative(double value, double expected) { return std::abs(value / expected - 1); }

// Returns the name suffixes of tensors whose gradient is only rounding noise. Without rotary
// positions, the key bias adds the same number to all scores of a query. The softmax ignores this
// number, so the gradient of the bias is 0.
std::string NoiseOf(const ModelConfig& model) {
  return model.position_embedding_type == PositionEmbedding::kRope ? "" : "k_proj.bias";
}

// Losses are equal until the expert of a token changes (StepsOfEqualLoad), which on GPUs happens in
// the first 8 steps of some layouts. It changes the loss by 1e-5 to 1e-4.
void ExpectEqualLosses(const LayoutRun& run, const LayoutRun& reference) {
  const int64_t equal_steps = StepsOfEqualLoad(run, reference);
  ASSERT_GE(equal_steps, 1) << "the first step has equal weights in both runs";
  const auto difference = [&](int64_t step) {
    return Relative(run.steps[step].loss, reference.steps[step].loss);
  };
  EXPECT_LT(difference(0), 1e-6);
  EXPECT_LT(difference(equal_steps - 1), 1e-5);
  EXPECT_LT(difference(static_cast<int64_t>(run.steps.size()) - 1), 1e-3);
}

void ExpectEquals(const LayoutRun& run, const LayoutRun& reference, const LayoutCase& layout) {
  const StepResult &first = run.steps.front(), &last = run.steps.back();
  const StepResult &first_of_one = reference.steps.front(), &last_of_one = reference.steps.back();
  const std::string noise = NoiseOf(GpuRunOf(layout, Precision::kFp32).model);
  const LargestDistance gradients =
      DistanceOf(run.first_gradients, reference.first_gradients, noise);
  std::printf("| %-42s | %7.1e | %7.1e | %7.1e | %7.1e |\n", layout.name,
              Relative(first.loss, first_of_one.loss), Relative(last.loss, last_of_one.loss),
              gradients.value, Relative(first.grad_norm, first_of_one.grad_norm));
  EXPECT_EQ(run.faults, std::vector<std::string>());
  ExpectEqualLosses(run, reference);
  EXPECT_LT(gradients.value, 1e-5) << gradients.name;
  EXPECT_LT(Relative(first.grad_norm, first_of_one.grad_norm), 1e-5);
  EXPECT_LT(last.loss, first.loss);
}

class GpuLayoutTest : public ::testing::TestWithParam<LayoutCase> {};

TEST_P(GpuLayoutTest, EqualsOneProcessInSinglePrecision) {
  const RunConfig config = GpuRunOf(GetParam(), Precision::kFp32);
  const bool masked = GetParam().masked;
  ExpectEquals(RunLayout(config, StepsOf(config.model), masked, OneGpu()),
               Reference(config, masked), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Layouts, GpuLayoutTest, ::testing::ValuesIn(LayoutCases()));

// In bf16 with the fused kernels, every layout must be as close to fp32 as one process in bf16 is.
TEST(GpuLayoutBf16Test, LayoutsAreAsNearToSinglePrecisionAsOneProcess) {
  for (const LayoutCase& layout : LayoutCases()) {
    if (layout.masked) continue;
    const RunConfig narrow = GpuRunOf(layout, Precision::kBf16);
    const RunConfig wide = GpuRunOf(layout, Precision::kFp32);
    const LayoutRun exact = RunLayout(OnOneProcess(wide), 1, false, OneGpu());
    const LayoutRun alone = RunLayout(OnOneProcess(narrow), 1, false, OneGpu());
    const LayoutRun run = RunLayout(narrow, 1, false, OneGpu());
    const std::string noise = NoiseOf(narrow.model);
    const double error = DistanceOf(run.first_gradients, exact.first_gradients, noise).value;
    const double error_of_one =
        DistanceOf(alone.first_gradients, exact.first_gradients, noise).value;
    std::printf("| %-42s | bf16 error of gradients %7.1e, of one process %7.1e |\n", layout.name,
                error, error_of_one);
    EXPECT_EQ(run.faults, std::vector<std::string>()) << layout.name;
    EXPECT_LT(error, LargestErrorRatio(narrow.model) * error_of_one) << layout.name;
    EXPECT_LT(Relative(run.steps[0].loss, exact.steps[0].loss), 2e-3) << layout.name;
  }
}

// Runs each rank on a separate thread with a separate GPU.
LayoutMachine SeveralGpus(int64_t ranks) {
  const int64_t port = FreePort();
  auto rendezvous = std::make_shared<std::vector<std::unique_ptr<Rendezvous>>>(ranks);
  return {.open_device = [](int64_t rank) { return OpenGpu(rank); },
          .connect = [=](int64_t rank) -> ConnectGroupFunction {
            auto& own = (*rendezvous)[rank];
            own = std::make_unique<Rendezvous>(Environment(rank, ranks, port),
                                               std::chrono::seconds(60));
            return [=, &own](const CommunicatorGroup& group) {
              return ConnectGroup(own.get(), group,
                                  torch::Device(torch::kCUDA, static_cast<int8_t>(rank)));
            };
          }};
}

class GpusLayoutTest : public ::testing::TestWithParam<LayoutCase> {};

TEST_P(GpusLayoutTest, EqualsOneProcessOverNccl) {
  const RunConfig config = GpuRunOf(GetParam(), Precision::kFp32);
  const int64_t ranks = RanksOf(config.layout);
  if (ranks == 1 || ranks > c10::cuda::device_count()) GTEST_SKIP() << ranks << " GPUs";
  const bool masked = GetParam().masked;
  ExpectEquals(RunLayout(config, StepsOf(config.model), masked, SeveralGpus(ranks)),
               Reference(config, masked), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Layouts, GpusLayoutTest, ::testing::ValuesIn(LayoutCases()));

}  // namespace
}  // namespace trainyard::trainer
