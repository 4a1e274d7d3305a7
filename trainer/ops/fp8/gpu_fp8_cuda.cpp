// FP8 copies and products in FP8, on a GPU.
#include "trainer/kernels/fp8/fp8_cast.h"
#include "trainer/kernels/fp8/fp8_scale.h"
#include "trainer/kernels/fp8/fp8_swiglu.h"
#include "trainer/kernels/gemm/gemm.h"
#include "trainer/ops/fp8/fp8.h"
#include "trainer/ops/gpu.h"
#include "trainer/ops/gpu_tensors.h"

namespace trainyard::trainer::gpu {
namespace {

using torch::Tensor;

kernels::ElementType Fp8Type(Fp8Format format) {
  return format == Fp8Format::kE4M3 ? kernels::ElementType::kFp8E4M3
                                    : kernels::ElementType::kFp8E5M2;
}

uint8_t* Fp8Address(const Tensor& elements) {
  return elements.defined() ? elements.data_ptr<uint8_t>() : nullptr;
}

float* AmaxAddress(const Fp8Scale& scale) {
  return scale.amax.defined() ? scale.amax.data_ptr<float>() : nullptr;
}

struct MatrixSize {
  int64_t rows;
  int64_t width;
};

// Returns a matrix whose elements are undefined.
Fp8Matrix EmptyFp8(const MatrixSize& size, Fp8Format format, const Fp8Scale& scale,
                   Fp8Arrangement arrangement) {
  const auto bytes = scale.scale.options().dtype(torch::kUInt8);
  Fp8Matrix result{.format = format, .inverse_scale = torch::empty_like(scale.scale)};
  if (arrangement != Fp8Arrangement::kColumns) {
    result.rows = torch::empty({size.rows, size.width}, bytes);
  }
  if (arrangement != Fp8Arrangement::kRows) {
    result.columns = torch::empty({size.width, size.rows}, bytes);
  }
  return result;
}

kernels::Fp8Target TargetOf(const Fp8Matrix& result, const Fp8Scale& scale) {
  return {.scale = scale.scale.data_ptr<float>(),
          .rows_out = Fp8Address(result.rows),
          .columns_out = Fp8Address(result.columns),
          .inverse_scale = result.inverse_scale.data_ptr<float>(),
          .amax = AmaxAddress(scale),
          .type = Fp8Type(result.format)};
}

// One factor of a product: its elements and the matrix that they belong to.
struct Fp8Factor {
  const Tensor& elements;  // [m, k] of the first factor, [n, k] of the second
  const Fp8Matrix& matrix;
};

// d = a b^T.
kernels::GemmArguments Fp8Product(const Fp8Factor& a, const Fp8Factor& b, const Tensor& d) {
  TORCH_CHECK(a.elements.defined() && b.elements.defined(),
              "this product needs another arrangement of its FP8 factors");
  CheckContiguous(a.elements, b.elements, d);
  TORCH_CHECK(a.elements.size(1) == b.elements.size(1) && d.size(0) == a.elements.size(0) &&
                  d.size(1) == b.elements.size(0),
              "the sizes of the FP8 factors and of their product differ");
  return {.a = a.elements.data_ptr(),
          .b = b.elements.data_ptr(),
          .d = d.data_ptr(),
          .m = a.elements.size(0),
          .n = b.elements.size(0),
          .k = a.elements.size(1),
          .transpose_b = true,
          .a_type = Fp8Type(a.matrix.format),
          .b_type = Fp8Type(b.matrix.format),
          .output_type = TypeOf(d),
          .a_factor = a.matrix.inverse_scale.data_ptr<float>(),
          .b_factor = b.matrix.inverse_scale.data_ptr<float>()};
}

}  // namespace

void RaiseAmax(const Tensor& x, const Tensor& amax) {
  CheckContiguous(x);
  kernels::RaiseAmax(
      {.x = x.data_ptr(), .amax = amax.data_ptr<float>(), .count = x.numel(), .type = TypeOf(x)},
      Stream());
}

void UpdateFp8Scale(const Tensor& amax, Fp8Format format, const Tensor& scale) {
  CheckContiguous(amax, scale);
  kernels::UpdateFp8Scales({.amax = amax.data_ptr<float>(),
                            .scale = scale.data_ptr<float>(),
                            .count = scale.numel(),
                            .largest = static_cast<float>(LargestFp8(format))},
                           Stream());
}

Fp8Matrix ToFp8(const Tensor& x, Fp8Format format, const Fp8Scale& scale,
                Fp8Arrangement arrangement) {
  CheckContiguous(x);
  const int64_t rows = x.size(0), width = x.size(1);
  Fp8Matrix result = EmptyFp8({rows, width}, format, scale, arrangement);
  kernels::CastToFp8({.x = x.data_ptr(),
                      .scale = scale.scale.data_ptr<float>(),
                      .rows_out = Fp8Address(result.rows),
                      .columns_out = Fp8Address(result.columns),
                      .inverse_scale = result.inverse_scale.data_ptr<float>(),
                      .amax = AmaxAddress(scale),
                      .rows = rows,
                      .width = width,
                      .type = TypeOf(x),
                      .fp8_type = Fp8Type(format)},
                     Stream());
  return result;
}

Fp8Matrix SwiGluForwardToFp8(const Tensor& packed, const Fp8Scale& scale,
                             Fp8Arrangement arrangement) {
  CheckContiguous(packed);
  const int64_t rows = packed.size(0), width = packed.size(1) / 2;
  Fp8Matrix result = EmptyFp8({rows, width}, Fp8Format::kE4M3, scale, arrangement);
  kernels::Fp8SwiGluForward({.packed = packed.data_ptr(),
                             .out = TargetOf(result, scale),
                             .rows = rows,
                             .width = width,
                             .type = TypeOf(packed)},
                            Stream());
  return result;
}

Fp8Matrix SwiGluBackwardToFp8(const Tensor& dout, const Tensor& packed, const Fp8Scale& scale) {
  CheckContiguous(dout, packed);
  const int64_t rows = dout.size(0), width = dout.size(1);
  TORCH_CHECK(packed.size(0) == rows && packed.size(1) == 2 * width,
              "the gradient and the packed rows have different sizes");
  Fp8Matrix result = EmptyFp8({rows, 2 * width}, Fp8Format::kE5M2, scale, Fp8Arrangement::kBoth);
  kernels::Fp8SwiGluBackward({.dout = dout.data_ptr(),
                              .packed = packed.data_ptr(),
                              .d_packed = TargetOf(result, scale),
                              .rows = rows,
                              .width = width,
                              .type = TypeOf(packed)},
                             Stream());
  return result;
}

void Fp8LinearForward(const Fp8Matrix& x, const Fp8Matrix& weight, Tensor& y) {
  kernels::GemmArguments product = Fp8Product({x.rows, x}, {weight.rows, weight}, y);
  // Gradients are sums of more and smaller terms, so only the forward pass gives up digits of its
  // sums for speed. NVIDIA's TransformerEngine makes the same choice.
  product.fast_accumulation = true;
  kernels::Gemm(product, Stream());
}

void Fp8LinearInputGradient(const Fp8Matrix& dy, const Fp8Matrix& weight, Tensor& dx) {
  kernels::Gemm(Fp8Product({dy.rows, dy}, {weight.columns, weight}, dx), Stream());
}

void Fp8LinearWeightGradient(const Fp8Matrix& dy, const Fp8Matrix& x,
                             const GradientTarget& target) {
  kernels::GemmArguments product = Fp8Product({dy.columns, dy}, {x.columns, x}, target.gradient);
  if (target.accumulate) product.c = target.gradient.data_ptr();
  kernels::Gemm(product, Stream());
}

}  // namespace trainyard::trainer::gpu
