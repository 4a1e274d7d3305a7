#include "trainer/model/layers/parallel_linear.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "trainer/ops/linear/linear.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// The smallest number of pieces into which the products for other ranks are divided. A piece is
// sent while the next one is computed. More pieces would hide more of the exchange, but smaller
// products are slower.
constexpr int64_t kLeastPieces = 2;

// Calls multiply(rows, index of the first row), first for this rank's own rows and then for the
// rows of each other rank once they have arrived. Returns all rows; own_part is as in BeginGather.
Tensor MultiplyAsRowsArrive(
    const Tensor& own, const TensorParallel& tensor, OwnPart own_part,
    const std::function<void(const Tensor& rows, int64_t first)>& multiply) {
  if (!tensor.splits_rows()) {
    multiply(own, 0);
    return own;
  }
  const int64_t count = own.size(0);
  PendingTensor arriving = tensor.BeginGather(own, own_part);
  multiply(own, tensor.index() * count);
  for (const int64_t rank : ReceiveOrder(tensor.size(), tensor.index())) {
    multiply(arriving.GetRowsOf(rank, tensor.size()), rank * count);
  }
  return arriving.Get();
}

// Returns the number of pieces for each other rank. The rows of a piece must be a number that
// products support.
int64_t PiecesOf(const LinearFactor& x, const TensorParallel& tensor) {
  const int64_t others = std::max<int64_t>(tensor.size() - 1, 1);
  const int64_t pieces = (kLeastPieces + others - 1) / others;
  const int64_t multiple = pieces * (x.IsFp8() ? kFp8Multiple : 1);
  return x.row_count() / tensor.size() % multiple == 0 ? pieces : 1;
}

// Begins the sum over the ranks of products of the rows of x. `products` is uninitialized.
PendingTensor BeginSumOfProducts(
    const LinearFactor& x, Tensor products, const TensorParallel& tensor,
    const std::function<void(const LinearFactor& rows, Tensor& product)>& multiply) {
  const auto compute = [&](int64_t first, int64_t count) {
    Tensor product = products.narrow(0, first, count);
    multiply(RowsOfFactor(x, first, count), product);
  };
  return tensor.BeginSum(products, {PiecesOf(x, tensor), compute});
}

// Between matrix products, ranks have either all rows or parts of the rows.
TensorParts PartsBetween(const LinearUse& use) {
  return use.parallel.tensor.splits_rows() ? TensorParts::kDivided : TensorParts::kWhole;
}

}  // namespace

// In FP8, the ranks exchange cast rows, which have half the size.
void ColumnParallelForward(const Tensor& x, const LinearUse& use, Tensor& y, const Tensor& gelu) {
  const Tensor bias = BiasOf(use);
  const LinearFactor own = CastInput(ChooseInput(x, PartsBetween(use), use), Fp8Arrangement::kRows);
  const auto multiply = [&](const Tensor& rows, int64_t first) {
    LinearFactor factor{rows};
    if (own.IsFp8()) factor = {Tensor(), own.scale, own.cast.WithRows(rows)};
    Tensor out = y.narrow(0, first, rows.size(0));
    if (!gelu.defined()) return MultiplyInput(factor, use, out, bias);
    Tensor gelu_out = gelu.narrow(0, first, rows.size(0));
    MultiplyInputWithGelu(factor, use, bias, out, gelu_out);
  };
  MultiplyAsRowsArrive(own.IsFp8() ? own.cast.rows : x, use.parallel.tensor, OwnPart::kUndefined,
                       multiply);
}

Tensor RowParallelForward(const LinearFactor& x, const Tensor& residual, const LinearUse& use) {
  const Tensor bias = BiasOf(use);
  const LinearFactor factor =
      x.IsCast()
          ? x
          : CastInput(ChooseInput(x.rows, TensorParts::kDivided, use), Fp8Arrangement::kRows);
  if (use.parallel.tensor.size() > 1) {
    Tensor products = torch::empty({factor.row_count(), residual.size(1)}, residual.options());
    Tensor y = BeginSumOfProducts(factor, std::move(products), use.parallel.tensor,
                                  [&](const LinearFactor& rows, Tensor& product) {
                                    MultiplyInput(rows, use, product);
                                  })
                   .GetPlus(residual);
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

LinearFactor RowParallelInputGradient(const Tensor& dy, const LinearUse& use, Tensor& dx,
                                      const Tensor& before_gelu) {
  const TensorParallel& tensor = use.parallel.tensor;
  LinearFactor own = ChooseGradient(dy, PartsBetween(use), use);
  const auto multiply = [&](const LinearFactor& rows, int64_t first) {
    Tensor out = dx.narrow(0, first, rows.row_count());
    if (!before_gelu.defined()) return MultiplyGradient(rows, use, out);
    MultiplyGradientWithGelu(rows, use, before_gelu.narrow(0, first, rows.row_count()), out);
  };
  if (!tensor.splits_rows()) {
    own = CastGradient(std::move(own), Fp8Arrangement::kBoth);
    multiply(own, 0);
    own.cast.rows = Tensor();
    return own;
  }
  const auto cast_and_multiply = [&](const Tensor& rows, int64_t first) {
    multiply(CastGradient({rows, own.scale}, Fp8Arrangement::kRows), first);
  };
  Tensor all = MultiplyAsRowsArrive(dy, tensor, OwnPart::kCopied, cast_and_multiply);
  return CastGradient({std::move(all), own.scale}, Fp8Arrangement::kColumns);
}

Tensor ColumnParallelBackward(ColumnParallelPass pass, const LinearUse& use,
                              WeightGradients& gradients) {
  const Tensor dy_rows = pass.dy.rows;
  LinearFactor dy = std::move(pass.dy);
  if (!dy.IsCast()) {
    dy = CastGradient(ChooseGradient(dy_rows, TensorParts::kDivided, use), Fp8Arrangement::kBoth);
  }
  PendingTensor sum = BeginSumOfProducts(
      dy, torch::empty_like(pass.x), use.parallel.tensor,
      [&](const LinearFactor& rows, Tensor& product) { MultiplyGradient(rows, use, product); });
  dy.cast.rows = Tensor();
  AddWeightGradient(std::move(dy), {pass.x}, use, gradients);
  gradients.AddBias(use.parameters.bias, dy_rows);
  return sum.Get();
}

}  // namespace trainyard::trainer
