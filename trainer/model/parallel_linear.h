// Products with matrices that are divided among tensor-parallel ranks, which exchange rows. A rank
// multiplies its own rows while other rows are in transit.
#ifndef TRAINYARD_TRAINER_MODEL_PARALLEL_LINEAR_H_
#define TRAINYARD_TRAINER_MODEL_PARALLEL_LINEAR_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/model/parameter_store.h"
#include "trainer/model/tensor_parallel.h"
#include "trainer/model/weight_gradients.h"

namespace trainyard::trainer {

// The indices of a matrix and its bias in the parameter store.
struct LinearParameters {
  int64_t weight = 0;
  int64_t bias = -1;  // -1 if there is no bias.
};

// Computes y = x weight^T + bias for all rows. Each rank has some rows of the weight and the
// corresponding elements of the bias. x contains the rows that this rank has between matrix
// products, [RowsHere(rows), in]. y is [rows, out].
void ColumnParallelForward(const torch::Tensor& x, const LinearParameters& parameters,
                           const ParameterStore& store, const TensorParallel& tensor,
                           torch::Tensor& y);

// Returns residual + the sum of x weight^T over the ranks + bias: [RowsHere(rows), out]. Each rank
// has some columns of x and of the weight, the whole bias, and its rows of the residual.
torch::Tensor RowParallelForward(const torch::Tensor& x, const LinearParameters& parameters,
                                 const ParameterStore& store, const torch::Tensor& residual,
                                 const TensorParallel& tensor);

// Sets dx to the gradient of x in RowParallelForward, for all rows: [rows, in]. dy contains the
// rows that this rank has between matrix products. Returns all rows of dy, because the gradient of
// the weight needs them.
torch::Tensor RowParallelInputGradient(const torch::Tensor& dy, const torch::Tensor& weight,
                                       const TensorParallel& tensor, torch::Tensor& dx);

// The tensors for the backward pass of y = x weight^T, where each rank has some rows of the weight.
// x and dy contain all rows; dy contains only the columns that correspond to the rank's rows of the
// weight.
struct ColumnParallelPass {
  const torch::Tensor& dy;
  const torch::Tensor& x;
};

// Returns the gradient of x for the rows that this rank has between matrix products. Adds the
// gradients of weight and bias to `gradients`. These gradients are computed during the exchange,
// unless they are deferred.
torch::Tensor ColumnParallelBackward(const ColumnParallelPass& pass,
                                     const LinearParameters& parameters,
                                     const ParameterStore& store, const TensorParallel& tensor,
                                     WeightGradients& gradients);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_PARALLEL_LINEAR_H_
