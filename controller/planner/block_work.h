// Work of one rank for one micro-batch: sizes of its part of a block and of the head, by which the
// time of kernels and transfers is counted. Pure functions of the settings.
#ifndef TRAINYARD_CONTROLLER_PLANNER_BLOCK_WORK_H_
#define TRAINYARD_CONTROLLER_PLANNER_BLOCK_WORK_H_

#include <vector>

#include "controller/planner/described_model.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

// out[m, n] += left[m, k] * right[k, n], `count` times with other matrices.
struct Product {
  double m = 0;
  double n = 0;
  double k = 0;
  double count = 1;

  double Flops() const { return 2 * count * m * n * k; }
  double Weights() const { return count * n * k; }
};

// A feed-forward half with experts. All experts are taken to get as many rows.
struct ExpertWork {
  double count = 0;   // Experts on this rank; 0: a dense block.
  double all = 0;     // Of the layer.
  double sent = 0;    // Copies of this rank's own rows between the matrices, for each of topk.
  double copies = 0;  // Rows of this rank's experts in all.
  double ffn = 0;     // This rank's part of one expert.
};

// Latent attention; `key_rank` is 0 where there is none.
struct LatentWork {
  double query_rank = 0;
  double key_rank = 0;
  double rotary = 0;     // Of one head.
  double unrotated = 0;  // Of one head's query or key, without positions.
  double value = 0;      // Of one head.
};

struct BlockWork {
  double element = 2;    // Bytes of an activation.
  bool is_fp8 = false;   // Products of the block.
  double rows = 0;       // Tokens of a micro-batch on this rank.
  double norm_rows = 0;  // Of them those between the matrices: a part with sequence parallelism.
  double hidden = 0;
  double ffn = 0;      // This rank's part; of the experts that every token takes, where there are.
  double queries = 0;  // Width of this rank's query heads.
  double keys = 0;  // Width of this rank's key heads; values have the same, or with keys the mean.
  double scored = 0;  // Mean width of a query and a value, of this rank's heads.
  double heads = 0;   // Query heads of this rank.
  double head_size = 0;
  double vocabulary = 0;  // This rank's part.
  double length = 0;      // Of a sample.
  double piece = 0;       // Of a sample, for one call of the attention.
  double context_parts = 1;
  bool is_gated = true;
  bool norms_heads = false;
  bool turns_heads = true;  // Rotary positions.
  bool has_biases = false;
  ExpertWork experts;
  LatentWork latent;

  // Of all rows: the attention's projections; then up, with the gate, and down, or those of shared
  // experts and the router.
  std::vector<Product> Products() const;
  // Those of the experts on this rank: up, with the gate, and down.
  std::vector<Product> ExpertProducts() const;
  // Query, key and value projections as one; output projection. Latent attention has those that
  // lower the rank, and those from the lower rank, before the output projection.
  std::vector<Product> AttentionProducts() const;
  // Projections from the lower rank to the heads; none without latent attention.
  std::vector<Product> LatentUpProducts() const;
  Product HeadProduct() const { return {rows, vocabulary, hidden}; }
  // Weights of Products().
  double BlockParameters() const;
  double ExpertParameters() const;
  double TableParameters() const { return vocabulary * hidden; }
  // Bytes of hidden states of all rows.
  double StreamBytes() const { return element * rows * hidden; }
};

// Of a block without experts.
BlockWork WorkOf(const RunConfig& config, const DescribedParts& parts = {});

// Of a block with the experts of `parts`; layout.ep of them work beside each other.
BlockWork ExpertWorkOf(const RunConfig& config, const DescribedParts& parts);

// Ranks that hold the same part of an expert, and so share its state.
int64_t ExpertDataSize(const LayoutConfig& layout, const DescribedParts& parts);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_BLOCK_WORK_H_
