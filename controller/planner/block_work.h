// The work of one rank for one micro-batch: sizes of the rank's part of a block and of the head,
// from which kernel and transfer times are computed. Pure functions of the settings.
#ifndef TRAINYARD_CONTROLLER_PLANNER_BLOCK_WORK_H_
#define TRAINYARD_CONTROLLER_PLANNER_BLOCK_WORK_H_

#include <vector>

#include "proto/contract/run_config.h"

namespace trainyard::planner {

// out[m, n] += left[m, k] * right[k, n], for `count` different matrices.
struct Product {
  double m = 0;
  double n = 0;
  double k = 0;
  double count = 1;

  double Flops() const { return 2 * count * m * n * k; }
  double Weights() const { return count * n * k; }
};

// A feed-forward half with experts. Assumes that all experts receive equally many rows.
struct ExpertWork {
  double count = 0;   // Experts on this rank; 0 for a dense block.
  double all = 0;     // Experts of the layer.
  double sent = 0;    // topk copies of each of this rank's own rows between the matrices.
  double copies = 0;  // Total rows of this rank's experts.
  double ffn = 0;     // This rank's part of one expert's width.
};

// Latent attention. `key_rank` is 0 without it.
struct LatentWork {
  double query_rank = 0;
  double key_rank = 0;
  double rotary = 0;     // Per head.
  double unrotated = 0;  // Per head: the part of a query or key without positions.
  double value = 0;      // Per head.
};

struct BlockWork {
  double element = 2;    // Bytes per activation.
  bool is_fp8 = false;   // Products of the block use FP8.
  double rows = 0;       // Tokens of a micro-batch on this rank.
  double norm_rows = 0;  // Rows in norms and residuals: a part of `rows` with sequence parallelism.
  double hidden = 0;
  double ffn = 0;      // This rank's part of the width; with experts, that of the shared experts.
  double queries = 0;  // Width of this rank's query heads.
  double keys = 0;     // Width of this rank's key heads, and of value heads (latent: mean of both).
  double scored = 0;   // Mean width of a query and a value, over this rank's heads.
  double heads = 0;    // Query heads of this rank.
  double head_size = 0;
  double vocabulary = 0;  // This rank's part.
  double length = 0;      // Length of a sample.
  double piece = 0;       // Length of the part of a sample in one attention call.
  double context_parts = 1;
  bool is_gated = true;
  bool norms_heads = false;
  bool turns_heads = true;  // Has rotary positions.
  bool has_biases = false;
  ExpertWork experts;
  LatentWork latent;

  // Products over all rows: attention projections; then up (with gate) and down, or the shared
  // experts' and the router.
  std::vector<Product> Products() const;
  // Products of this rank's experts: up (with gate) and down.
  std::vector<Product> ExpertProducts() const;
  // Query, key and value projections as one product, and the output projection. With latent
  // attention, the projections to and from the lower matrix rank replace the first product.
  std::vector<Product> AttentionProducts() const;
  // Projections from the lower matrix rank to the heads; empty without latent attention.
  std::vector<Product> LatentUpProducts() const;
  Product HeadProduct() const { return {rows, vocabulary, hidden}; }
  // Number of weights in Products().
  double BlockParameters() const;
  double ExpertParameters() const;
  double TableParameters() const { return vocabulary * hidden; }
  // Bytes of the hidden states of all rows.
  double StreamBytes() const { return element * rows * hidden; }
};

// Work of a block without experts.
BlockWork WorkOf(const RunConfig& config);

// Work of a block with experts, spread over layout.ep ranks.
BlockWork ExpertWorkOf(const RunConfig& config);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_BLOCK_WORK_H_
