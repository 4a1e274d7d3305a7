// Work of one rank for one micro-batch: sizes of its part of a block and of the head, by which the
// time of kernels and transfers is counted. Pure functions of the settings.
#ifndef TRAINYARD_CONTROLLER_PLANNER_BLOCK_WORK_H_
#define TRAINYARD_CONTROLLER_PLANNER_BLOCK_WORK_H_

#include <array>

#include "proto/contract/run_config.h"

namespace trainyard::planner {

// out[m, n] += left[m, k] * right[k, n].
struct Product {
  double m = 0;
  double n = 0;
  double k = 0;

  double Flops() const { return 2 * m * n * k; }
};

struct BlockWork {
  double element = 2;    // Bytes of an activation.
  double rows = 0;       // Tokens of a micro-batch on this rank.
  double norm_rows = 0;  // Of them those between the matrices: a part with sequence parallelism.
  double hidden = 0;
  double ffn = 0;      // This rank's part.
  double queries = 0;  // Width of this rank's query heads.
  double keys = 0;     // Width of this rank's key heads; values have the same.
  double heads = 0;    // Query heads of this rank.
  double head_size = 0;
  double vocabulary = 0;  // This rank's part.
  double length = 0;      // Of a sample.
  double piece = 0;       // Of a sample, for one call of the attention.
  double context_parts = 1;
  bool is_gated = true;
  bool norms_heads = false;
  bool turns_heads = true;  // Rotary positions.
  bool has_biases = false;

  // Query, key and value projections as one; output projection; up, with the gate; down.
  std::array<Product, 4> Products() const;
  Product HeadProduct() const { return {rows, vocabulary, hidden}; }
  double BlockParameters() const;
  double TableParameters() const { return vocabulary * hidden; }
  // Bytes of hidden states of all rows.
  double StreamBytes() const { return element * rows * hidden; }
};

BlockWork WorkOf(const RunConfig& config);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_BLOCK_WORK_H_
