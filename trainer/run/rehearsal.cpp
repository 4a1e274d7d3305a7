#include "trainer/run/rehearsal.h"

#include <algorithm>
#include <cstdint>

#include "proto/model/model_size.h"
#include "trainer/data/prefetcher.h"
#include "trainer/model/decoder.h"
#include "trainer/optimizer/adamw.h"
#include "trainer/parallel/device/device.h"
#include "trainer/parallel/interruption/presence.h"
#include "trainer/parallel/mesh.h"
#include "trainer/parallel/rank_groups.h"
#include "trainer/parallel/step_clock.h"
#include "trainer/start/attention_choice.h"
#include "trainer/start/gang.h"
#include "trainer/step/model_options.h"
#include "trainer/step/step_runner.h"

namespace trainyard::trainer {
namespace {

constexpr int64_t kLargestWidth = 256;
constexpr int64_t kLargestVocabulary = 1024;
constexpr int64_t kLargestLength = 256;
// The first micro-batch overwrites gradients, and the second adds to them.
constexpr int64_t kRounds = 2;

void Limit(int64_t& value, int64_t largest) { value = std::min(value, largest); }

ModelConfig SmallModel(ModelConfig model) {
  model.kv_channels = HasLatentAttention(model) ? model.kv_channels : HeadSize(model);
  const int64_t shared = std::max<int64_t>(model.num_attention_heads / model.num_query_groups, 1);
  model.num_query_groups = 1;
  model.num_attention_heads = shared;
  Limit(model.num_layers, HasExperts(model) ? model.moe_dense_layers + 1 : 1);
  for (int64_t* width :
       {&model.hidden_size, &model.ffn_hidden_size, &model.moe_ffn_hidden_size,
        &model.moe_shared_expert_intermediate_size, &model.q_lora_rank, &model.kv_lora_rank}) {
    Limit(*width, kLargestWidth);
  }
  Limit(model.vocab_size, kLargestVocabulary);
  return model;
}

TokenBatch RandomBatch(const RunConfig& config) {
  const int64_t row = config.train.seq_length + 1;
  const torch::Tensor tokens = torch::randint(0, config.model.vocab_size, {row}, torch::kInt64);
  TokenBatch batch;
  batch.samples = {0};
  batch.row_tokens = row;
  batch.tokens.assign(tokens.data_ptr<int64_t>(), tokens.data_ptr<int64_t>() + row);
  return batch;
}

void TrainStep(const RunConfig& config, torch::Device device) {
  const torch::NoGradGuard no_grad;
  const Mesh mesh(config.layout);
  const RankGroups groups = ConnectGroups(config, mesh, {}, /*rendezvous=*/nullptr, device);
  Decoder model(config.model, ModelOptions(config, mesh, /*rank=*/0, groups, device));
  AdamW optimizer(config.optimizer, model.parameters());
  StepClock clock(device);
  const Presence presence(device, /*interruption=*/nullptr);
  StepRunner runner({config, model, optimizer, groups, clock, presence, device});
  runner.Launch(
      {.step = 1, .rounds = kRounds}, [&] { return RandomBatch(config); }, [] {});
  runner.Finish();
}

}  // namespace

RunConfig SmallForm(const RunConfig& config) {
  RunConfig small = config;
  small.model = SmallModel(config.model);
  small.layout = LayoutConfig{.dp = 1, .recompute = config.layout.recompute, .etp = 1};
  Limit(small.train.seq_length, kLargestLength);
  small.train.global_batch = kRounds;
  const bool knows_documents = config.data.reset_attention_mask || config.data.eod_mask_loss;
  if (knows_documents) small.data.eod_token = 0;
  return small;
}

void RehearseStep(const RunConfig& config, torch::Device device) {
  TrainStep(WithAttentionChosen(SmallForm(config)), device);
  ReleaseUnusedMemory(device);
}

}  // namespace trainyard::trainer
