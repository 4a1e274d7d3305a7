// Concise notation for measured runs: models, layouts, and clusters of NVIDIA nodes.
#ifndef TRAINYARD_TESTS_CONTROLLER_PLANNER_RUN_SETTINGS_H_
#define TRAINYARD_TESTS_CONTROLLER_PLANNER_RUN_SETTINGS_H_

#include <cstdint>
#include <string>

#include "controller/planner/cluster.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

// A run, initially with one rank. Each member function returns a modified copy.
struct RunSettings {
  RunConfig config;
  int64_t per_node = 8;

  RunSettings Tp(int64_t size) const { return With(&LayoutConfig::tp, size); }
  RunSettings Cp(int64_t size, ContextExchange exchange = ContextExchange::kP2p) const {
    return With(&LayoutConfig::cp, size).With(&LayoutConfig::cp_comm_type, exchange);
  }
  RunSettings Dp(int64_t size) const { return With(&LayoutConfig::dp, size); }
  RunSettings Pp(int64_t size) const { return With(&LayoutConfig::pp, size); }
  RunSettings Vpp(int64_t size) const { return With(&LayoutConfig::vpp, size); }
  RunSettings Zero(int64_t stage) const { return With(&LayoutConfig::zero, stage); }
  RunSettings ZeroBubble() const { return With(&LayoutConfig::zero_bubble, true); }
  RunSettings Ep(int64_t size) const { return With(&LayoutConfig::ep, size); }
  RunSettings WholeExperts() const { return With(&LayoutConfig::etp, int64_t{1}); }
  RunSettings Fp8() const;
  RunSettings Full() const { return With(&LayoutConfig::recompute, Recompute::kFull); }
  RunSettings Selective() const { return With(&LayoutConfig::recompute, Recompute::kSelective); }
  RunSettings NarrowMoments() const;

 private:
  template <typename Value>
  RunSettings With(Value LayoutConfig::*setting, Value value) const {
    RunSettings changed = *this;
    changed.config.layout.*setting = value;
    return changed;
  }
};

RunSettings Settings(const ModelConfig& model, int64_t length, int64_t batch, int64_t micro_batch);

// Returns a model with gated feed-forward, rotary positions and an untied head. key_heads = 0 gives
// the model as many key heads as query heads.
ModelConfig Gated(int64_t layers, int64_t hidden, int64_t ffn, int64_t heads, int64_t vocabulary,
                  int64_t key_heads = 0);
// LLaMA 3: 8 key heads, a vocabulary of 128,256.
ModelConfig Llama(int64_t layers, int64_t hidden, int64_t ffn, int64_t heads);
// GPT-2 and GPT-3: LayerNorm, biases, learned positions, GELU, a tied head.
ModelConfig Gpt(int64_t layers, int64_t hidden, int64_t heads, int64_t vocabulary);
// Nemotron 4: LayerNorm, squared ReLU, 8 key heads, a vocabulary of 256,000.
ModelConfig Nemotron(int64_t layers, int64_t hidden, int64_t ffn, int64_t heads);

// Returns the model with `count` experts of width `width` in every layer, and `topk` per token.
ModelConfig WithExperts(ModelConfig model, int64_t count, int64_t topk, int64_t width);
// Returns the model with DeepSeek-V3's latent attention.
ModelConfig WithLatentAttention(ModelConfig model);

// Returns a cluster with as many nodes as the layout needs, and with the default network of the
// device.
Cluster ClusterOf(const std::string& device, const RunSettings& run);

}  // namespace trainyard::planner

#endif  // TRAINYARD_TESTS_CONTROLLER_PLANNER_RUN_SETTINGS_H_
