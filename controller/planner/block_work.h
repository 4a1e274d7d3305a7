// The work of one rank for one micro-batch: the sizes of the rank's share of a transformer block
// and of the output head. Kernel and transfer times are computed from these sizes. The functions
// depend only on the settings.
#ifndef TRAINYARD_CONTROLLER_PLANNER_BLOCK_WORK_H_
#define TRAINYARD_CONTROLLER_PLANNER_BLOCK_WORK_H_

#include <vector>

#include "proto/contract/run_config.h"
#include "proto/rules/expert_dispatch.h"

namespace trainyard::planner {

// `count` matrix products out[m, n] += left[m, k] * right[k, n], each with its own
// matrices.
struct Product {
  double m = 0;
  double n = 0;
  double k = 0;
  double count = 1;

  double Flops() const { return 2 * count * m * n * k; }
  double Weights() const { return count * n * k; }
};

// The feed-forward half of a block with experts. Assumes that every expert receives the same
// number of rows.
struct ExpertWork {
  double count = 0;  // Number of experts on this rank. 0 for a dense block.
  double all = 0;    // Number of experts of the layer.
  double ranks = 1;  // Number of ranks that together have all experts once.
  double rows = 0;   // Rows that this rank's experts process, and copies that this rank sends.
  double ffn = 0;    // This rank's share of the width of one expert.
  bool is_balanced = false;  // True if the router gives all experts equally many rows.
  ExpertDispatch dispatch = ExpertDispatch::kLocal;
};

// Sizes of latent attention. `key_rank` is 0 without latent attention.
struct LatentWork {
  double query_rank = 0;
  double key_rank = 0;
  double rotary = 0;     // Per head.
  double unrotated = 0;  // Width per head of the query or key part without rotary positions.
  double value = 0;      // Per head.
};

struct BlockWork {
  double element = 2;    // Bytes per activation.
  bool is_fp8 = false;   // True if products of the block use FP8.
  double rows = 0;       // Number of tokens of a micro-batch on this rank.
  double norm_rows = 0;  // Rows in norms and residuals; fewer with sequence parallelism.
  double hidden = 0;
  // This rank's share of the feed-forward width (with experts: of the shared experts' width).
  double ffn = 0;
  double queries = 0;  // Width of the query heads of this rank.
  // The width of this rank's keys and of its values. With latent attention, the mean of both.
  double keys = 0;
  double scored = 0;  // Total width of this rank's heads: the mean of queries and values.
  double heads = 0;   // Number of query heads of this rank.
  double head_size = 0;
  double vocabulary = 0;  // This rank's part.
  double length = 0;      // Length of a sample.
  double piece = 0;       // Length of the part of a sample that one attention call handles.
  double context_parts = 1;
  bool exchanges_heads = false;  // Context-parallel ranks exchange tokens for heads.
  bool is_gated = true;
  bool norms_heads = false;
  bool turns_heads = true;  // Has rotary positions.
  double bias_width = 0;    // Elements of the biases on this rank; 0 without biases.
  ExpertWork experts;
  LatentWork latent;

  // Returns the products that all rows pass through: the attention projections, then up (with gate)
  // and down. In a block with experts, the shared experts' products replace up and down.
  std::vector<Product> Products() const;
  // Returns the products of this rank's experts: up (with gate) and down.
  std::vector<Product> ExpertProducts() const;
  // Returns the query, key and value projections as one product, followed by the output projection.
  // With latent attention, the projections to and from the low-rank space replace the first
  // product.
  std::vector<Product> AttentionProducts() const;
  // Returns the projections from the low-rank space to the heads. Empty without latent attention.
  std::vector<Product> LatentUpProducts() const;
  // Returns the router's product, which computes in fp32.
  Product RouterProduct() const { return {norm_rows, experts.all, hidden}; }
  Product HeadProduct() const { return {rows, vocabulary, hidden}; }
  // Returns the projection of a module of multi-token prediction. Every tensor-parallel rank has
  // the whole projection.
  Product MtpProduct() const { return {norm_rows, hidden, 2 * hidden}; }
  // Returns the number of weights in Products() and in the router.
  double BlockParameters() const;
  double ExpertParameters() const;
  double TableParameters() const { return vocabulary * hidden; }
  // Returns the size in bytes of the hidden states of all rows.
  double StreamBytes() const { return element * rows * hidden; }
};

// Returns the work of a dense block (without experts).
BlockWork WorkOf(const RunConfig& config);

// Returns the work of a block whose experts are distributed over layout.ep ranks.
BlockWork ExpertWorkOf(const RunConfig& config);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_BLOCK_WORK_H_
