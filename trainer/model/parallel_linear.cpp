#include "trainer/model/parallel_linear.h"

#include <functional>
#include <vector>

#include "trainer/ops/linear.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// The number of parts into which the rows of a sum over ranks are divided. One part is exchanged
// while the product for the next part is computed. More parts would hide more of the exchange, but
// smaller products are slower.
constexpr int64_t kSumParts = 2;

// Returns the bias; undefined if there is no bias.
Tensor BiasOf(const LinearParameters& parameters, const ParameterStore& store) {
  return parameters.bias >= 0 ? store.Value(parameters.bias) : Tensor();
}

// Calls multiply(rows, index of the first row), first for this rank's own rows and then for the
// rows of the other ranks once they have arrived. Returns all rows.
Tensor MultiplyAsRowsArrive(
    const Tensor& own, const TensorParallel& tensor,
    const std::function<void(const Tensor& rows, int64_t first)>& multiply) {
  if (!tensor.splits_rows()) {
    multiply(own, 0);
    return own;
  }
  PendingTensor arriving = tensor.BeginGather(own);
  const int64_t first = tensor.index() * own.size(0), end = first + own.size(0);
  multiply(own, first);
  Tensor all = arriving.Get();
  if (first > 0) multiply(all.narrow(0, 0, first), 0);
  if (end < all.size(0)) multiply(all.narrow(0, end, all.size(0) - end), end);
  return all;
}

// Returns part number `part` of every rank's rows: [ranks, rows of the part, width].
Tensor PartOfEach(const Tensor& rows, int64_t ranks, int64_t part, int64_t parts) {
  const int64_t of_rank = rows.size(0) / ranks, of_part = of_rank / parts;
  return rows.view({ranks, of_rank, -1}).narrow(1, part * of_part, of_part);
}

// Returns the number of parts of a sum: kSumParts, or 1 if the rows cannot be divided evenly.
int64_t PartsOf(int64_t rows, const TensorParallel& tensor) {
  const int64_t ranks = tensor.splits_rows() ? tensor.size() : 1;
  return rows / ranks % kSumParts == 0 ? kSumParts : 1;
}

// Returns residual + the sum of x weight^T over the ranks.
Tensor SummedProduct(const Tensor& x, const Tensor& weight, const Tensor& residual,
                     const TensorParallel& tensor) {
  const int64_t ranks = tensor.splits_rows() ? tensor.size() : 1;
  const int64_t parts = PartsOf(x.size(0), tensor), rows = x.size(0) / ranks / parts;
  std::vector<PendingTensor> sums;
  for (int64_t part = 0; part < parts; ++part) {
    const Tensor inputs = PartOfEach(x, ranks, part, parts);
    Tensor products = torch::empty({ranks * rows, weight.size(0)}, x.options());
    for (int64_t rank = 0; rank < ranks; ++rank) {
      Tensor product = products.narrow(0, rank * rows, rows);
      LinearForward(inputs[rank], weight, product);
    }
    sums.push_back(tensor.BeginSum(std::move(products)));
  }
  Tensor y = torch::empty_like(residual);
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t first = part * rows;
    Tensor here = y.narrow(0, first, rows);
    at::add_out(here, sums[part].Get(), residual.narrow(0, first, rows));
  }
  return y;
}

}  // namespace

void ColumnParallelForward(const Tensor& x, const LinearParameters& parameters,
                           const ParameterStore& store, const TensorParallel& tensor, Tensor& y) {
  const Tensor weight = store.Value(parameters.weight), bias = BiasOf(parameters, store);
  MultiplyAsRowsArrive(x, tensor, [&](const Tensor& rows, int64_t first) {
    Tensor out = y.narrow(0, first, rows.size(0));
    LinearForward(rows, weight, out, bias);
  });
}

Tensor RowParallelForward(const Tensor& x, const LinearParameters& parameters,
                          const ParameterStore& store, const Tensor& residual,
                          const TensorParallel& tensor) {
  const Tensor weight = store.Value(parameters.weight), bias = BiasOf(parameters, store);
  if (tensor.size() > 1) {
    Tensor y = SummedProduct(x, weight, residual, tensor);
    if (bias.defined()) AddBias(bias, y);
    return y;
  }
  Tensor y = torch::empty({x.size(0), weight.size(0)}, x.options());
  LinearForwardWithResidual(x, weight, residual, y, bias);
  return y;
}

Tensor RowParallelInputGradient(const Tensor& dy, const Tensor& weight,
                                const TensorParallel& tensor, Tensor& dx) {
  return MultiplyAsRowsArrive(dy, tensor, [&](const Tensor& rows, int64_t first) {
    Tensor out = dx.narrow(0, first, rows.size(0));
    LinearInputGradient(rows, weight, out);
  });
}

Tensor ColumnParallelBackward(const ColumnParallelPass& pass, const LinearParameters& parameters,
                              const ParameterStore& store, const TensorParallel& tensor,
                              WeightGradients& gradients) {
  Tensor dx = torch::empty_like(pass.x);
  LinearInputGradient(pass.dy, store.Value(parameters.weight), dx);
  PendingTensor sum = tensor.BeginSum(dx);
  gradients.AddLinear(parameters.weight, pass.dy, pass.x);
  gradients.AddBias(parameters.bias, pass.dy);
  return sum.Get();
}

}  // namespace trainyard::trainer
