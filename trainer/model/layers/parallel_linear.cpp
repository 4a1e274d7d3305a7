#include "trainer/model/layers/parallel_linear.h"

#include <functional>
#include <utility>
#include <vector>

#include "trainer/ops/linear/linear.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// The number of parts into which the rows of a sum over ranks are divided. One part is exchanged
// while the product for the next part is computed. More parts would hide more of the exchange, but
// smaller products are slower.
constexpr int64_t kSumParts = 2;

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

// Returns the number of parts of a sum: kSumParts, or 1 if the rows cannot be divided evenly into
// parts that products support.
int64_t PartsOf(const LinearFactor& x, const TensorParallel& tensor) {
  const int64_t ranks = tensor.splits_rows() ? tensor.size() : 1;
  const int64_t parts = kSumParts * (x.IsFp8() ? kFp8Multiple : 1);
  return x.row_count() / ranks % parts == 0 ? kSumParts : 1;
}

// Returns residual + the sum of x weight^T over the ranks. A part of the sum consists of this part
// of every rank's rows.
Tensor SummedProduct(const LinearFactor& x, const Tensor& residual, const LinearUse& use) {
  const TensorParallel& tensor = use.parallel.tensor;
  const int64_t ranks = tensor.splits_rows() ? tensor.size() : 1;
  const int64_t parts = PartsOf(x, tensor), rows = x.row_count() / ranks / parts;
  std::vector<PendingTensor> sums;
  for (int64_t part = 0; part < parts; ++part) {
    Tensor products = torch::empty({ranks * rows, residual.size(1)}, residual.options());
    for (int64_t rank = 0; rank < ranks; ++rank) {
      Tensor product = products.narrow(0, rank * rows, rows);
      MultiplyInput(RowsOfFactor(x, (rank * parts + part) * rows, rows), use, product);
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

// Between matrix products, ranks have either all rows or parts of the rows.
TensorParts PartsBetween(const LinearUse& use) {
  return use.parallel.tensor.splits_rows() ? TensorParts::kDivided : TensorParts::kWhole;
}

}  // namespace

void ColumnParallelForward(const Tensor& x, const LinearUse& use, Tensor& y) {
  const Tensor bias = BiasOf(use);
  const Fp8Scale scale = ChooseInput(x, PartsBetween(use), use).scale;
  MultiplyAsRowsArrive(x, use.parallel.tensor, [&](const Tensor& rows, int64_t first) {
    Tensor out = y.narrow(0, first, rows.size(0));
    MultiplyInput(CastInput({rows, scale}, Fp8Arrangement::kRows), use, out, bias);
  });
}

Tensor RowParallelForward(const LinearFactor& x, const Tensor& residual, const LinearUse& use) {
  const Tensor bias = BiasOf(use);
  const LinearFactor factor =
      x.IsCast()
          ? x
          : CastInput(ChooseInput(x.rows, TensorParts::kDivided, use), Fp8Arrangement::kRows);
  if (use.parallel.tensor.size() > 1) {
    Tensor y = SummedProduct(factor, residual, use);
    if (bias.defined()) AddBias(bias, y);
    return y;
  }
  Tensor y = torch::empty_like(residual);
  if (!factor.IsFp8()) {
    LinearForwardWithResidual(factor.rows, use.store.Value(use.parameters.weight), residual, y,
                              bias);
    return y;
  }
  MultiplyInput(factor, use, y, bias);
  return y.add_(residual);
}

LinearFactor RowParallelInputGradient(const Tensor& dy, const LinearUse& use, Tensor& dx) {
  const TensorParallel& tensor = use.parallel.tensor;
  LinearFactor own = ChooseGradient(dy, PartsBetween(use), use);
  if (!tensor.splits_rows()) {
    own = CastGradient(std::move(own), Fp8Arrangement::kBoth);
    MultiplyGradient(own, use, dx);
    own.cast.rows = Tensor();
    return own;
  }
  Tensor all = MultiplyAsRowsArrive(dy, tensor, [&](const Tensor& rows, int64_t first) {
    Tensor out = dx.narrow(0, first, rows.size(0));
    MultiplyGradient(CastGradient({rows, own.scale}, Fp8Arrangement::kRows), use, out);
  });
  return CastGradient({std::move(all), own.scale}, Fp8Arrangement::kColumns);
}

Tensor ColumnParallelBackward(ColumnParallelPass pass, const LinearUse& use,
                              WeightGradients& gradients) {
  const Tensor dy_rows = pass.dy.rows;
  LinearFactor dy = std::move(pass.dy);
  if (!dy.IsCast()) {
    dy = CastGradient(ChooseGradient(dy_rows, TensorParts::kDivided, use), Fp8Arrangement::kBoth);
  }
  Tensor dx = torch::empty_like(pass.x);
  MultiplyGradient(dy, use, dx);
  dy.cast.rows = Tensor();
  PendingTensor sum = use.parallel.tensor.BeginSum(dx);
  AddWeightGradient(std::move(dy), {pass.x}, use, gradients);
  gradients.AddBias(use.parameters.bias, dy_rows);
  return sum.Get();
}

}  // namespace trainyard::trainer
