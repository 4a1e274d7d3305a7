// Products with matrices split over tensor-parallel ranks, including the exchange of rows. Local
// rows are multiplied while the others are in transit.
#ifndef TRAINYARD_TRAINER_MODEL_PARALLEL_LINEAR_H_
#define TRAINYARD_TRAINER_MODEL_PARALLEL_LINEAR_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/model/parameter_store.h"
#include "trainer/model/tensor_parallel.h"
#include "trainer/model/weight_gradients.h"

namespace trainyard::trainer {

// Indices of a matrix and its bias in the store.
struct LinearParameters {
  int64_t weight = 0;
  int64_t bias = -1;  // -1 without a bias.
};

// y = x weight^T + bias for all rows, where each rank has some rows of the weight and the same
// elements of the bias. x: this rank's rows between the matrices, [RowsHere(rows), in]. y: [rows,
// out].
void ColumnParallelForward(const torch::Tensor& x, const LinearParameters& parameters,
                           const ParameterStore& store, const TensorParallel& tensor,
                           torch::Tensor& y);

// Returns residual + x weight^T + bias. Each rank has some columns of x and of the weight, the
// whole bias, and its rows of the residual between the matrices: [RowsHere(rows), out].
torch::Tensor RowParallelForward(const torch::Tensor& x, const LinearParameters& parameters,
                                 const ParameterStore& store, const torch::Tensor& residual,
                                 const TensorParallel& tensor);

// Sets dx to the gradient of x in RowParallelForward, for all rows: [rows, in]. dy: this rank's
// rows between the matrices. Returns all rows of dy, for the weight's gradient.
torch::Tensor RowParallelInputGradient(const torch::Tensor& dy, const torch::Tensor& weight,
                                       const TensorParallel& tensor, torch::Tensor& dx);

// Tensors of y = x weight^T, where each rank has some rows of the weight. dy: the matching columns;
// both have all rows.
struct ColumnParallelPass {
  const torch::Tensor& dy;
  const torch::Tensor& x;
};

// Returns the gradient of x in this rank's rows between the matrices. Adds the gradients of weight
// and bias to `gradients`; if not deferred, they are computed during the exchange.
torch::Tensor ColumnParallelBackward(const ColumnParallelPass& pass,
                                     const LinearParameters& parameters,
                                     const ParameterStore& store, const TensorParallel& tensor,
                                     WeightGradients& gradients);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_PARALLEL_LINEAR_H_
