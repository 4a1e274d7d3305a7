// Products with matrices that are divided among tensor-parallel ranks, which exchange rows. A rank
// multiplies its own rows while other rows are in transit. Products use FP8 if the matrix does
// (linear_use.h).
#ifndef TRAINYARD_TRAINER_MODEL_LAYERS_PARALLEL_LINEAR_H_
#define TRAINYARD_TRAINER_MODEL_LAYERS_PARALLEL_LINEAR_H_

#include <torch/types.h>

#include "trainer/model/layers/linear_use.h"
#include "trainer/model/parameters/weight_gradients.h"

namespace trainyard::trainer {

// Computes y = x weight^T + bias for all rows. Each rank has some rows of the weight and the
// corresponding elements of the bias. x contains the rows that this rank has between matrix
// products, [RowsHere(rows), in]. y is [rows, out].
// If `gelu` is defined, sets it to GELU(y), in the tanh approximation.
void ColumnParallelForward(const torch::Tensor& x, const LinearUse& use, torch::Tensor& y,
                           const torch::Tensor& gelu = {});

// Returns residual + the sum of x weight^T over the ranks + bias: [RowsHere(rows), out]. Each rank
// has some columns of x and of the weight, the whole bias, and its rows of the residual. x may be
// cast with its rows.
torch::Tensor RowParallelForward(const LinearFactor& x, const torch::Tensor& residual,
                                 const LinearUse& use);

// Sets dx to the gradient of x in RowParallelForward, for all rows: [rows, in]. dy contains the
// rows that this rank has between matrix products. Returns all rows of dy for AddWeightGradient.
// If `before_gelu` is defined, x = GELU(before_gelu), and dx becomes the gradient of before_gelu.
LinearFactor RowParallelInputGradient(const torch::Tensor& dy, const LinearUse& use,
                                      torch::Tensor& dx, const torch::Tensor& before_gelu = {});

// The tensors for the backward pass of y = x weight^T, where each rank has some rows of the weight.
// x and dy contain all rows; dy contains only the columns that correspond to the rank's rows of the
// weight. dy may be cast in both arrangements if there is no bias.
struct ColumnParallelPass {
  LinearFactor dy;
  const torch::Tensor& x;
};

// Returns the gradient of x for the rows that this rank has between matrix products. Adds the
// gradients of weight and bias to `gradients`. These gradients are computed during the exchange,
// unless they are deferred.
torch::Tensor ColumnParallelBackward(ColumnParallelPass pass, const LinearUse& use,
                                     WeightGradients& gradients);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_LAYERS_PARALLEL_LINEAR_H_
