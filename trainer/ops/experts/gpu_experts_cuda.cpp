// Products and activations of experts, and products of routers, on a GPU.
#include <vector>

#include "trainer/kernels/experts/scaled_activation.h"
#include "trainer/kernels/gemm/gemm.h"
#include "trainer/ops/gemm_products.h"
#include "trainer/ops/gpu.h"
#include "trainer/ops/gpu_tensors.h"

namespace trainyard::trainer::gpu {
namespace {

using torch::Tensor;

// Below this mean number of multiplications per expert, LibTorch's grouped product is faster; above
// this number, the loop over the experts is (trainer/README.md, decisions for mixtures of experts).
constexpr int64_t kFewMultiplications = 16'000'000'000;
// LibTorch's limit is 1,023 groups.
constexpr int64_t kMostGroups = 512;

// `weight` is [experts, out, in].
bool UsesGroupedProduct(const Tensor& rows, const Tensor& weight) {
  constexpr int64_t kAlignedElements = 8;  // Rows of bf16 begin at multiples of 16 bytes.
  const int64_t experts = weight.size(0), out = weight.size(1), in = weight.size(2);
  return rows.scalar_type() == torch::kBFloat16 && experts <= kMostGroups &&
         out % kAlignedElements == 0 && in % kAlignedElements == 0 && rows.size(0) > 0 &&
         rows.size(0) / experts * out * in < kFewMultiplications;
}

// Returns the index after the last row of each expert, int32 [experts].
Tensor EndsOf(const RowSegments& segments, const Tensor& rows) {
  Tensor ends = torch::empty({static_cast<int64_t>(segments.size())},
                             torch::dtype(torch::kInt32).pinned_memory(true));
  auto* values = ends.data_ptr<int32_t>();
  ForEachSegment(segments, rows.size(0), [&](int64_t expert, int64_t first, int64_t count) {
    values[expert] = static_cast<int32_t>(first + count);
  });
  return ends.to(rows.device(), /*non_blocking=*/true);
}

// Multiplies the rows of one expert. The number of rows changes from call to call.
void MultiplySegment(kernels::GemmArguments product) {
  product.rows_vary = true;
  kernels::Gemm(product, Stream());
}

// Splits each fp32 number into two 16-bit numbers. Their sum keeps at least the first 16
// significant bits. Returns [rows, 2 * columns]: the leading parts of all columns, then the rest.
Tensor Split(const Tensor& wide, torch::ScalarType type) {
  const Tensor leading = wide.to(type);
  return at::cat({leading, (wide - leading).to(type)}, 1);
}

}  // namespace

Tensor GroupedLinearForward(const Tensor& x, const Tensor& weight, const RowSegments& segments) {
  if (UsesGroupedProduct(x, weight)) {
    return at::_grouped_mm(x, weight.transpose(1, 2), EndsOf(segments, x));
  }
  const Tensor y = torch::empty({x.size(0), weight.size(1)}, x.options());
  ForEachSegment(segments, x.size(0), [&](int64_t expert, int64_t first, int64_t count) {
    if (count == 0) return;
    MultiplySegment(
        ForwardProduct(x.narrow(0, first, count), weight[expert], {}, y.narrow(0, first, count)));
  });
  return y;
}

Tensor GroupedLinearInputGradient(const Tensor& dy, const Tensor& weight,
                                  const RowSegments& segments) {
  if (UsesGroupedProduct(dy, weight)) return at::_grouped_mm(dy, weight, EndsOf(segments, dy));
  const Tensor dx = torch::empty({dy.size(0), weight.size(2)}, dy.options());
  ForEachSegment(segments, dy.size(0), [&](int64_t expert, int64_t first, int64_t count) {
    if (count == 0) return;
    MultiplySegment(InputGradientProduct(dy.narrow(0, first, count), weight[expert],
                                         dx.narrow(0, first, count)));
  });
  return dx;
}

void SegmentWeightGradient(const Tensor& dy, const Tensor& x, const GradientTarget& target) {
  MultiplySegment(WeightGradientProduct(dy, x, target));
}

Tensor WideLinearForward(const Tensor& x, const Tensor& weight) {
  const Tensor y = torch::empty({x.size(0), weight.size(0)}, x.options().dtype(torch::kFloat32));
  kernels::Gemm(ForwardProduct(x, weight, {}, y), Stream());
  return y;
}

void AddWideLinearInputGradient(const Tensor& dy, const Tensor& weight, Tensor& dx) {
  const bool is_wide = weight.scalar_type() == torch::kFloat32;
  const Tensor rows = is_wide ? dy : Split(dy, weight.scalar_type());
  const Tensor columns = is_wide ? weight : at::cat({weight, weight});
  kernels::GemmArguments product = InputGradientProduct(rows, columns, dx);
  product.c = dx.data_ptr();
  kernels::Gemm(product, Stream());
}

void WideWeightGradient(const Tensor& dy, const Tensor& x, const GradientTarget& target) {
  const Tensor parts =
      torch::empty({2 * dy.size(1), x.size(1)}, x.options().dtype(torch::kFloat32));
  kernels::Gemm(WeightGradientProduct(Split(dy, x.scalar_type()), x, {parts, false}), Stream());
  Tensor gradient = target.gradient;
  const Tensor leading = parts.narrow(0, 0, dy.size(1));
  const Tensor trailing = parts.narrow(0, dy.size(1), dy.size(1));
  if (target.accumulate) {
    gradient.add_(leading).add_(trailing);
  } else {
    at::add_out(gradient, leading, trailing);
  }
}

void ScaledSwiGluForward(const Tensor& packed, const Tensor& scales, Tensor& out) {
  CheckContiguous(packed, scales, out);
  kernels::ScaledSwiGluForward({.packed = packed.data_ptr(),
                                .scales = scales.data_ptr<float>(),
                                .out = out.data_ptr(),
                                .rows = out.size(0),
                                .width = out.size(1),
                                .type = TypeOf(packed)},
                               Stream());
}

Tensor ScaledSwiGluBackward(const Tensor& dout, const Tensor& packed, const Tensor& scales,
                            Tensor& d_packed, Tensor& out) {
  CheckContiguous(dout, packed, scales, d_packed);
  if (out.defined()) CheckContiguous(out);
  Tensor d_scales = torch::empty_like(scales);
  kernels::ScaledSwiGluBackward({.dout = dout.data_ptr(),
                                 .packed = packed.data_ptr(),
                                 .scales = scales.data_ptr<float>(),
                                 .d_packed = d_packed.data_ptr(),
                                 .out = AddressOf(out),
                                 .d_scales = d_scales.data_ptr<float>(),
                                 .rows = dout.size(0),
                                 .width = dout.size(1),
                                 .type = TypeOf(dout)},
                                Stream());
  return d_scales;
}

}  // namespace trainyard::trainer::gpu
