#include "trainer/model/experts/moe.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/trainer/gpu/accuracy.h"
#include "tests/trainer/model/family_settings.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr int64_t kSamples = 2, kLength = 150;

ModelConfig LayerModel(void (*make)(ModelConfig&)) {
  ModelConfig model;
  model.num_layers = 2;
  model.hidden_size = 256;
  model.ffn_hidden_size = 384;
  model.num_attention_heads = 4;
  model.num_query_groups = 2;
  model.vocab_size = 503;
  model.init_method_std = 0.05;
  make(model);
  model.moe_dense_layers = 0;
  return model;
}

void MakeWithLosses(ModelConfig& model) {
  MakeMixtral(model);
  model.moe_norm_topk_prob = false;
  model.moe_aux_loss_coeff = 50;
  model.moe_z_loss_coeff = 10;
}

void MakeWithSequenceLoss(ModelConfig& model) {
  MakeDeepSeekMoe(model);
  model.moe_router_load_balancing_type = RouterLoadBalancing::kSeqAuxLoss;
  model.moe_aux_loss_coeff = 50;
}

const std::map<std::string, ModelConfig>& Layers() {
  static const std::map<std::string, ModelConfig> layers = {
      {"Mixtral", LayerModel(MakeMixtral)},
      {"Qwen3Moe", LayerModel(MakeQwen3Moe)},
      {"DeepSeek", LayerModel(MakeDeepSeekMoe)},
      {"WithLosses", LayerModel(MakeWithLosses)},
      {"WithSequenceLoss", LayerModel(MakeWithSequenceLoss)}};
  return layers;
}

// One layer with its own parameters on a device.
class Layer {
 public:
  Layer(const ModelConfig& model, torch::ScalarType type, torch::Device device,
        bool keeps_activations = true)
      : store_({{"experts", Experts::Declare(model, "mlp.", {})},
                {"layer", Moe::Declare(model, "mlp.", {})}},
               type, device, 7),
        moe_(model, store_, {.router = 2, .experts = {0, 1}, .shared = {{3}, {4}}}, 0,
             keeps_activations, {}) {
    if (model.moe_router_enable_expert_bias) {
      bias_ = (torch::arange(model.num_experts) % 3 * 0.02).unsqueeze(0).to(device);
    }
  }

  struct Pass {
    Tensor y, dx, gradients;
  };

  // x and dy: [rows, hidden] in bf16.
  Pass Run(const Tensor& x, const Tensor& dy) {
    MicroBatch micro_batch{kSamples, kLength, {}, Stash()};
    micro_batch.balance.bias = bias_;
    const auto here = [&](const Tensor& rows) {
      return rows.to(store_.values().device(), store_.values().scalar_type());
    };
    WeightGradients gradients(store_);
    const Tensor residual = here(dy) * 0.5;
    const Tensor y = moe_.Forward(here(x), residual, micro_batch);
    const Tensor dx = moe_.Backward(here(dy), here(x), micro_batch, gradients);
    EXPECT_TRUE(micro_batch.stash.empty());
    return {y, dx, store_.gradients().clone()};
  }

  // Copies the parameter values of another layer.
  void CopyValues(const Layer& other) { store_.values().copy_(other.store_.values()); }
  const ParameterStore& store() const { return store_; }

 private:
  ParameterStore store_;
  Moe moe_;
  Tensor bias_;
};

struct Input {
  Tensor x = RandomOnGpu({kSamples * kLength, 256}, torch::kBFloat16);
  Tensor dy = RandomOnGpu({kSamples * kLength, 256}, torch::kBFloat16);
};

TEST(MoeGpuTest, SinglePrecisionEqualsTheCpu) {
  torch::manual_seed(1);
  const Input input;
  for (const auto& [name, model] : Layers()) {
    SCOPED_TRACE(name);
    Layer cpu(model, torch::kFloat64, torch::kCPU), layer(model, torch::kFloat32, Gpu());
    layer.CopyValues(cpu);
    cpu.CopyValues(layer);  // The same values, rounded to fp32.
    const Layer::Pass expected = cpu.Run(input.x, input.dy), pass = layer.Run(input.x, input.dy);
    EXPECT_LT(RelativeNorm(pass.y, expected.y), 1e-5);
    EXPECT_LT(RelativeNorm(pass.dx, expected.dx), 1e-5);
    for (const StoredSlice& slice : layer.store().slices()) {
      const auto part = [&](const Tensor& all) {
        return all.narrow(0, slice.range.first, slice.range.length);
      };
      EXPECT_LT(RelativeNorm(part(pass.gradients), part(expected.gradients)), 2e-5)
          << slice.logical.name;
    }
  }
}

// Both devices choose the same experts, because the logits of bf16 rows have the precision of fp32.
// The rounding of a result to bf16 has a relative norm of about 0.0017.
TEST(MoeGpuTest, SixteenBitIsNearTheCpuInSinglePrecision) {
  torch::manual_seed(2);
  const Input input;
  for (const auto& [name, model] : Layers()) {
    SCOPED_TRACE(name);
    Layer layer(model, torch::kBFloat16, Gpu()), cpu(model, torch::kFloat32, torch::kCPU);
    cpu.CopyValues(layer);
    const Layer::Pass expected = cpu.Run(input.x, input.dy), pass = layer.Run(input.x, input.dy);
    EXPECT_LT(RelativeNorm(pass.y, expected.y), 0.006);
    EXPECT_LT(RelativeNorm(pass.dx, expected.dx), 0.01);
    EXPECT_LT(RelativeNorm(pass.gradients, expected.gradients), 0.01);
  }
}

TEST(MoeGpuTest, RecomputationAndRepeatsChangeNoBit) {
  torch::manual_seed(3);
  const Input input;
  for (const torch::ScalarType type : kGpuTypes) {
    for (const auto& [name, model] : Layers()) {
      SCOPED_TRACE(name);
      Layer layer(model, type, Gpu()), recomputing(model, type, Gpu(), /*keeps_activations=*/false);
      const Layer::Pass expected = layer.Run(input.x, input.dy);
      EXPECT_TRUE(SameBits(recomputing.Run(input.x, input.dy).gradients, expected.gradients));
      ExpectSameBitsInEveryRun([&, &other = layer] {
        const Layer::Pass pass = other.Run(input.x, input.dy);
        return std::vector<Tensor>{pass.y, pass.dx, pass.gradients};
      });
    }
  }
}

}  // namespace
}  // namespace trainyard::trainer
