#include "proto/contract/memory_model.h"

#include <algorithm>

#include "proto/contract/model_size.h"
#include "proto/contract/run_rules.h"

namespace trainyard {
namespace {

constexpr double kFloatBytes = 4;

// Rows of logits that exist at a time on a GPU (CrossEntropyRowsPerChunk).
constexpr double kHeadRows = 8192;

// Assumptions, rounded up and not measured run by run: the CUDA context with the modules of the
// kernels and of cuDNN, the workspace of cuBLASLt (kernels/gemm_plan.h), and the buffers of one
// NCCL communicator.
constexpr double kContextBytes = 600e6;
constexpr double kMatrixWorkspaceBytes = 64 << 20;
constexpr double kCommunicatorBytes = 500e6;

double BytesOf(Precision precision) { return precision == Precision::kBf16 ? 2 : 4; }

// Sizes in bytes of the tensors of one micro-batch in one block.
struct BlockTensors {
  double stream;        // [rows, hidden], as are a norm's result and each of their gradients.
  double inverse_rms;   // fp32 [rows].
  double queries;       // [rows, query heads * head size], as is the attention's result.
  double packed_heads;  // Queries, keys and values.
  double softmax;       // Kept by the attention.
  double attention;     // Workspace of the attention's backward pass.
  double activation;    // [rows, ffn].
  double packed_gate_up;
};

// bf16: the log of each row's sum, by a fused kernel. fp32: all of it.
double SoftmaxBytes(const RunConfig& config, double rows) {
  const auto heads = static_cast<double>(config.model.num_attention_heads);
  const bool is_fused = config.train.precision == Precision::kBf16;
  const double columns = is_fused ? 1 : static_cast<double>(config.train.seq_length);
  return rows * heads * columns * kFloatBytes;
}

// cuDNN's backward pass (kernels/attention.h): sums of the rows; gradients of keys and values for
// each query head, where query heads share them; and bf16 scores, or the fp32 gradient of the
// queries where the bits may differ from run to run.
double FusedAttentionBytes(const RunConfig& config, double rows) {
  const ModelConfig& model = config.model;
  const auto heads = static_cast<double>(model.num_attention_heads);
  const auto queries = heads * static_cast<double>(HeadSize(model));
  const bool shares = model.num_query_groups < model.num_attention_heads;
  const double own = config.train.deterministic
                         ? 2 * rows * heads * static_cast<double>(config.train.seq_length)
                         : rows * queries * kFloatBytes;
  return own + rows * heads * kFloatBytes + (shares ? 2 * rows * queries * 2 : 0);
}

// Without the fused kernel (ops/attention.cpp): the gradients of weights and scores, the heads of
// each group stacked, and a result.
double PlainAttentionBytes(const BlockTensors& tensors) {
  return 2 * tensors.softmax + tensors.packed_heads + 2 * tensors.queries;
}

BlockTensors TensorsOf(const RunConfig& config) {
  const ModelConfig& model = config.model;
  const auto rows =
      static_cast<double>(config.layout.micro_batch) * static_cast<double>(config.train.seq_length);
  const double row_bytes = rows * BytesOf(config.train.precision);
  const auto head_bytes = row_bytes * static_cast<double>(HeadSize(model));
  BlockTensors tensors{};
  tensors.stream = row_bytes * static_cast<double>(model.hidden_size);
  tensors.inverse_rms = rows * kFloatBytes;
  tensors.queries = head_bytes * static_cast<double>(model.num_attention_heads);
  tensors.packed_heads =
      tensors.queries + 2 * head_bytes * static_cast<double>(model.num_query_groups);
  tensors.softmax = SoftmaxBytes(config, rows);
  tensors.attention = config.train.precision == Precision::kBf16 ? FusedAttentionBytes(config, rows)
                                                                 : PlainAttentionBytes(tensors);
  tensors.activation = row_bytes * static_cast<double>(model.ffn_hidden_size);
  tensors.packed_gate_up = 2 * tensors.activation;
  return tensors;
}

// Bytes that a block's forward pass keeps: model/block.cpp, attention.cpp and mlp.cpp.
struct KeptBytes {
  double attention;
  double mlp;
};

KeptBytes KeptByBlock(const BlockTensors& tensors, bool is_selective) {
  const double again = is_selective ? 0 : 1;  // Norms and the activation.
  const double norm = tensors.stream + tensors.inverse_rms + again * tensors.stream;
  return {norm + tensors.packed_heads + tensors.softmax + tensors.queries,
          norm + tensors.packed_gate_up + again * tensors.activation};
}

// Final hidden states, their norm and gradient, and a chunk of logits.
double HeadWorking(const RunConfig& config, const BlockTensors& tensors) {
  const double rows = tensors.inverse_rms / kFloatBytes;
  const double logits = std::min(rows, kHeadRows) * static_cast<double>(config.model.vocab_size) *
                        BytesOf(config.train.precision);
  return 3 * tensors.stream + logits;
}

// Most that the backward pass of the last block needs beside the activations of all blocks.
double BlockWorking(const BlockTensors& tensors, Recompute recompute) {
  const bool is_selective = recompute == Recompute::kSelective;
  const double again = is_selective ? 1 : 0;
  const KeptBytes kept = KeptByBlock(tensors, is_selective);
  // Gradients of result and input; the norm's result again.
  const double mlp = (2 + again) * tensors.stream + (1 + again) * tensors.activation;
  // Gradients of the block's result and of the attention's; the norm's result again. What the
  // feed-forward half has kept is free by then.
  const double attention = (2 + again) * tensors.stream + tensors.queries + tensors.packed_heads +
                           std::max(tensors.attention, tensors.stream) - kept.mlp;
  // All that a block would have kept is made again, from the input that it has kept.
  const double made_again =
      recompute == Recompute::kFull ? kept.attention + kept.mlp - tensors.stream : 0;
  return made_again + std::max(mlp, attention);
}

double KeptActivations(const RunConfig& config, const BlockTensors& tensors) {
  const auto blocks = static_cast<double>(config.model.num_layers);
  if (config.layout.recompute == Recompute::kFull) return blocks * tensors.stream;
  const KeptBytes kept = KeptByBlock(tensors, config.layout.recompute == Recompute::kSelective);
  return blocks * (kept.attention + kept.mlp);
}

double OverheadBytes(const LayoutConfig& layout) {
  return kContextBytes + kMatrixWorkspaceBytes + (layout.dp > 1 ? kCommunicatorBytes : 0);
}

}  // namespace

MemoryPrediction PredictTrainingMemory(const RunConfig& config) {
  const auto parameters = static_cast<double>(ParameterCount(config.model));
  const BlockTensors tensors = TensorsOf(config);
  MemoryPrediction prediction;
  const double owners =
      ShardsOptimizerState(config.layout) ? static_cast<double>(config.layout.dp) : 1;
  const double value = BytesOf(config.train.precision);
  // bf16 weights come with 16 low bits each, which are the optimizer's.
  prediction.weights = parameters * (value + (kFloatBytes - value) / owners);
  prediction.gradients = parameters * kFloatBytes;
  prediction.moments =
      parameters *
      (BytesOf(config.optimizer.exp_avg_dtype) + BytesOf(config.optimizer.exp_avg_sq_dtype)) /
      owners;
  prediction.activations = KeptActivations(config, tensors);
  prediction.working =
      std::max(HeadWorking(config, tensors), BlockWorking(tensors, config.layout.recompute));
  prediction.overhead = OverheadBytes(config.layout);
  return prediction;
}

}  // namespace trainyard
