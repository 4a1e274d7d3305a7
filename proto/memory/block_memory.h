// Predicts the device memory that one rank needs for one micro-batch, in one block and in the head.
// Pure functions.
#ifndef TRAINYARD_PROTO_MEMORY_BLOCK_MEMORY_H_
#define TRAINYARD_PROTO_MEMORY_BLOCK_MEMORY_H_

#include "proto/contract/run_config.h"
#include "proto/model/model_size.h"

namespace trainyard {

inline constexpr double kFloatBytes = 4;

// Bytes per value.
double BytesOf(Precision precision);

// Sizes, in bytes, of a layer's experts on one rank. `rows` are the rows for which memory is
// reserved (ReservedExpertRows).
struct ExpertTensors {
  double row_bytes = 0;   // [rows, hidden]: the rows sorted by expert.
  double packed_up = 0;   // [rows, width]; includes the gate, if there is one.
  double activation = 0;  // [rows, width].
  double exchange = 0;    // Buffers for sending rows to other ranks or receiving their results.
  double router = 0;      // fp32 logits and weights, and the choice, which `choice` counts alone.
  double choice = 0;      // int64 [rows of this rank, topk]: the experts of each row.
};

// The sizes, in bytes, of the tensors of one block on one rank for one micro-batch. `rows` is a
// count.
struct BlockTensors {
  double rows = 0;          // The number of tokens of a micro-batch.
  double stream = 0;        // The residual stream; 1/tp of `all_rows` if sequence-parallel.
  double middle = 0;        // The input of the feed-forward half; 0 if it is the block's input.
  double all_rows = 0;      // [rows, hidden].
  double inverse_rms = 0;   // fp32, one per row of `stream`; two for LayerNorm.
  double queries = 0;       // [rows, query heads of this rank * head size].
  double result = 0;        // [rows, query heads * value size]; the result of attention.
  double whole_result = 0;  // Result for whole samples; 0 unless ranks exchange heads.
  double packed_heads = 0;  // Queries, keys and values; unrotated keys of latent attention twice.
  double remade_heads = 0;  // Tensors of latent attention that selective recomputation drops.
  double softmax = 0;       // Kept by attention.
  double head_norms = 0;    // Kept by the norms of query and key heads.
  double lower_rank = 0;    // Latent attention's low-rank vectors.
  double lower_norms = 0;   // The results and statistics of their norms.
  double attention = 0;     // Workspace of attention's backward pass.
  double workspace = 0;     // The part of `attention` that is one tensor.
  double activation = 0;    // [rows, ffn]; of shared experts in a block with experts.
  double packed_up = 0;     // Includes the gate, if there is one.
  double gathered = 0;      // All rows, gathered for a product; 0 if not sequence-parallel.
  double input_part = 1;    // Relative size of a kept product's input; 0.5 in FP8.
  // The largest FP8 copies of gradients and inputs in the backward pass of each half.
  double attention_copies = 0;
  double mlp_copies = 0;
  ExpertTensors experts;
};
BlockTensors TensorsOf(const RunConfig& config, BlockKind kind);

// The bytes that a block's forward pass keeps.
struct KeptBytes {
  double attention = 0;
  double mlp = 0;
  double dispatch = 0;  // Tensors of the rows at the experts.

  double OfBlock() const { return attention + mlp; }
};
KeptBytes KeptByBlock(const BlockTensors& tensors, Recompute recompute);

// Returns the peak of the temporaries in a block's backward pass, without the activations that
// blocks keep.
double BlockWorking(const RunConfig& config, const BlockTensors& tensors);

// Returns the bytes of the largest temporary tensor of a block: cuDNN's workspace, or a tensor of
// the feed-forward half.
double LargestTensor(const BlockTensors& tensors);

// Returns the bytes of a chunk of logits.
double LogitBytes(const RunConfig& config, const BlockTensors& tensors);

// Returns the bytes of the final hidden states, their norm and gradient, and a chunk of logits.
double HeadWorking(const RunConfig& config, const BlockTensors& tensors);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_MEMORY_BLOCK_MEMORY_H_
