// Products with matrices that are cut over tensor-parallel ranks, with their exchange. The rows
// that need no exchange are multiplied while the others travel.
#ifndef TRAINYARD_TRAINER_MODEL_PARALLEL_LINEAR_H_
#define TRAINYARD_TRAINER_MODEL_PARALLEL_LINEAR_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/model/parameter_store.h"
#include "trainer/model/tensor_parallel.h"
#include "trainer/model/weight_gradients.h"

namespace trainyard::trainer {

// Numbers of a matrix and of its bias in the store.
struct LinearParameters {
  int64_t weight = 0;
  int64_t bias = -1;  // -1 without one.
};

// y = x weight^T + bias in all rows, where each rank has some rows of the weight and those elements
// of the bias. x: the rows that this rank has between the matrices, [RowsHere(rows), in]. y: [rows,
// out].
void ColumnParallelForward(const torch::Tensor& x, const LinearParameters& parameters,
                           const ParameterStore& store, const TensorParallel& tensor,
                           torch::Tensor& y);

// residual + x weight^T + bias, where each rank has some columns of x and of the weight, the whole
// bias, and the rows of the residual that it has between the matrices: [RowsHere(rows), out].
torch::Tensor RowParallelForward(const torch::Tensor& x, const LinearParameters& parameters,
                                 const ParameterStore& store, const torch::Tensor& residual,
                                 const TensorParallel& tensor);

// The gradient of x in RowParallelForward, in all rows: [rows, in]. dy: the rows that this rank has
// between the matrices. Returns all rows of dy, for the weight's gradient.
torch::Tensor RowParallelInputGradient(const torch::Tensor& dy, const torch::Tensor& weight,
                                       const TensorParallel& tensor, torch::Tensor& dx);

// Of y = x weight^T where each rank has some rows of the weight: those columns of dy, and all rows.
struct ColumnParallelPass {
  const torch::Tensor& dy;
  const torch::Tensor& x;
};

// The gradient of x, in the rows that this rank has between the matrices. Hands over the gradients
// of weight and bias, which are computed under the exchange where that is at once.
torch::Tensor ColumnParallelBackward(const ColumnParallelPass& pass,
                                     const LinearParameters& parameters,
                                     const ParameterStore& store, const TensorParallel& tensor,
                                     WeightGradients& gradients);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_PARALLEL_LINEAR_H_
