// A decoder-only transformer. The settings choose RMSNorm or LayerNorm, rotary or learned
// positions, grouped-query attention with or without head norms, feed-forward layers with or
// without a gate, biases or none, sequential or parallel branches, and a tied or an untied head.
// These settings cover LLaMA 2, 3 and 3.1, Qwen3, OLMo, GPT-2, GPT-3 and GPT-NeoX.
#ifndef TRAINYARD_TRAINER_MODEL_DECODER_H_
#define TRAINYARD_TRAINER_MODEL_DECODER_H_

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "proto/contract/model_config.h"
#include "trainer/model/attention/documents.h"
#include "trainer/model/block.h"
#include "trainer/model/layers/embedding.h"
#include "trainer/model/layers/head.h"
#include "trainer/model/multi_token_prediction.h"
#include "trainer/model/parallel/model_parallel.h"
#include "trainer/model/parameters/fp8_parameters.h"
#include "trainer/model/parameters/parameter_store.h"
#include "trainer/model/parameters/weight_access.h"
#include "trainer/model/parameters/weight_gradients.h"
#include "trainer/model/pass/expert_balance.h"
#include "trainer/ops/attention/rotary.h"

namespace trainyard::trainer {

struct DecoderOptions {
  torch::ScalarType type = torch::kFloat32;  // Tests use fp64.
  torch::Device device = torch::kCPU;
  BlockOptions blocks = {};
  DocumentOptions documents = {};
  int64_t recomputed_layers = 0;        // Number of first blocks per chunk to recompute; 0: all.
  std::optional<uint64_t> seed = 1234;  // Seed of the initial values; unset: values are loaded.
  StoreParts parts = {};                // This rank's part of state, gradients, values.
  ModelParallel parallel = {};          // This rank's part of the model.
  Fp8Options fp8 = {};                  // By default, no products use FP8.
};

// Samples, and the loss weight of each prediction.
struct TrainingTokens {
  torch::Tensor tokens;        // int64 [batch, length + 1] on the device.
  torch::Tensor loss_weights;  // fp32 [batch * length], or fp64 for an fp64 model.
  // 1 / (the number of micro-batches of the step over all data-parallel ranks): the weight of the
  // losses that balance experts.
  double share = 1;
};

// This rank's chunks of the model. A chunk is a run of consecutive layers, plus the embedding at
// the start of the model and the head at its end. Parameter groups are in the order of the backward
// pass: chunks from last to first, and in each chunk the modules of multi-token prediction from
// last to first, the head, the blocks from last to first, the embedding, and the learned positions.
//
// A tied head and multi-token prediction use the token table. If the head and the embedding are on
// different ranks, both ranks have this table as group kEmbeddingGroup, and each computes a part of
// the table's gradient.
//
// Not copyable, because its parts refer to its parameters. Not thread-safe.
class Decoder {
 public:
  static constexpr char kEmbeddingGroup[] = "embedding";
  // Learned positions are a separate group. With a tied head, the last stage has the embedding's
  // group, but no positions.
  static constexpr char kPositionGroup[] = "positions";
  static constexpr char kHeadGroup[] = "head";  // The final norm, and the output matrix if untied.
  // The number of a module of multi-token prediction follows. Excludes the module's block.
  static constexpr char kMtpGroup[] = "mtp ";

  Decoder(const ModelConfig& model, const DecoderOptions& options);
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // Returns the name of the logical tensor that contains the head's matrix. For a tied head, this
  // is the embedding's tensor.
  static const char* HeadTensor(const ModelConfig& model);

  const PipelinePlace& place() const { return options_.parallel.pipeline; }
  ParameterStore& parameters() { return *parameters_; }
  // The state of the routers of all layers.
  ExpertBalance& expert_balance() { return balance_; }
  // The parameters whose products use FP8; null without FP8.
  Fp8Parameters* fp8() const { return fp8_.get(); }
  // Collective over all ranks: must be called before a pass or a series of passes with weights that
  // have changed. The functions that run whole passes call it.
  void PrepareWeights() const;
  // The part of the training loss that multi-token prediction has added on this rank: an fp64
  // scalar, which the caller resets. Undefined on ranks without modules.
  torch::Tensor mtp_loss() const { return mtp_loss_; }
  // Returns one slice of every logical tensor that the ranks of this stage have.
  std::vector<LogicalTensorSlice> TensorsOfStage() const;
  // The groups of a chunk in the order of the forward pass, without multi-token prediction.
  std::vector<int64_t> GroupsOf(int64_t chunk) const;
  // The group of the token table that this stage shares with another stage; -1 if there is none.
  int64_t shared_embedding_group() const { return shared_embedding_group_; }

  // Sets the object that is called before and after weights are used. `access` must outlive this
  // object. Without a call of UseWeights, all weights must always be available.
  void UseWeights(WeightAccess& access) { access_ = &access; }

  // Prepares this rank's tokens of a micro-batch for one pass through a chunk.
  MicroBatch Begin(int64_t chunk, const TrainingTokens& batch, Stash::Mode mode) const;
  // Returns an uninitialized tensor of the shape that a chunk passes to the next chunk. `length` is
  // the number of tokens per sample over all ranks.
  torch::Tensor NewActivations(int64_t samples, int64_t length) const;

  // Runs the blocks of the chunk, preceded by the embedding if the chunk has it. `x` is the output
  // of the preceding chunk; it is undefined for the chunk with the embedding.
  torch::Tensor Forward(int64_t chunk, torch::Tensor x, MicroBatch& micro_batch) const;
  // Computes the loss and returns the gradient of x. Must be called only for the chunk with the
  // head. Adds the weighted sum of the losses of this rank's tokens to `loss`, an fp64 scalar on
  // the device. The sum is equal on all tensor-parallel ranks. The gradient also contains the
  // losses of multi-token prediction.
  torch::Tensor LossAndGradient(const torch::Tensor& x, const MicroBatch& micro_batch,
                                torch::Tensor& loss, WeightGradients& gradients) const;
  void Loss(const torch::Tensor& x, const MicroBatch& micro_batch, torch::Tensor& loss) const;
  // Returns the gradient of x, the input of the chunk. Undefined for the chunk with the embedding.
  torch::Tensor Backward(int64_t chunk, torch::Tensor dy, MicroBatch& micro_batch,
                         WeightGradients& gradients) const;

  // Runs the forward and the backward pass of one micro-batch. Requires that the whole model is on
  // one rank.
  void ForwardBackward(const TrainingTokens& batch, torch::Tensor& loss,
                       WeightGradients& gradients) const;
  void Loss(const TrainingTokens& batch, torch::Tensor& loss) const;
  // Returns logits [batch, length, vocabulary] in the model's type. `tokens` is int64 [batch,
  // length].
  torch::Tensor Logits(const torch::Tensor& tokens) const;

 private:
  // A group index is -1 if the chunk does not have the group.
  struct Chunk {
    std::vector<Block> blocks;
    std::vector<BlockGroups> block_groups;  // In model order.
    int64_t head_group = -1;
    int64_t embedding_group = -1;
    int64_t position_group = -1;
  };

  // Declares the groups of parameters and records their indices.
  class Groups;

  void MakeExpertBalance();
  void MakeFp8(const Groups& groups);
  void MakeParts(const Groups& groups);
  void MakeMtpModules(const Groups& groups);
  const RotaryTable& Rotary(int64_t length) const;
  torch::Tensor LearnedPositions(const MicroBatch& micro_batch, int64_t length) const;
  torch::Tensor OnThisRank(const torch::Tensor& of_tokens) const;
  void LookAheadFor(const TrainingTokens& batch, MicroBatch& micro_batch) const;
  void MarkDocuments(const torch::Tensor& tokens, MicroBatch& micro_batch) const;

  ModelConfig model_;
  DecoderOptions options_;
  std::unique_ptr<ParameterStore> parameters_;
  std::unique_ptr<Fp8Parameters> fp8_;
  ExpertBalance balance_;
  std::vector<Chunk> chunks_;
  std::optional<Embedding> embedding_;
  std::optional<Head> head_;
  std::optional<MultiTokenPrediction> mtp_;  // Only on the rank with the head.
  torch::Tensor mtp_loss_;
  int64_t head_weight_group_ = -1;  // Index of the group with the head's matrix.
  int64_t shared_embedding_group_ = -1;
  int64_t end_table_group_ = -1;  // The group of the last stage's copy of the token table.
  mutable WeightAccess always_there_;
  WeightAccess* access_ = &always_there_;
  // Table for samples of rotary_length_ tokens. It contains this rank's positions of a sample or,
  // if each document counts its own positions, all positions.
  mutable RotaryTable rotary_;
  mutable int64_t rotary_length_ = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_DECODER_H_
