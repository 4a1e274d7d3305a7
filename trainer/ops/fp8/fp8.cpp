#include "trainer/ops/fp8/fp8.h"

#include <torch/utils.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

#include "trainer/ops/gpu.h"

namespace trainyard::trainer {

using torch::Tensor;

namespace {

constexpr uint8_t kNanElement = 0x7f;
constexpr size_t kFp8Elements = 256;

// The bits of an element are, from the highest: sign, exponent, digits. An exponent field of 0
// means numbers below 2^smallest_exponent with the spacing of the numbers above it.
struct Fp8Layout {
  int digits;  // Number of bits after the binary point.
  int smallest_exponent;
  float largest;
  float smallest_step() const { return std::ldexp(1.0F, smallest_exponent - digits); }
};

constexpr Fp8Layout LayoutOf(Fp8Format format) {
  return format == Fp8Format::kE4M3
             ? Fp8Layout{.digits = 3, .smallest_exponent = -6, .largest = 448.0F}
             : Fp8Layout{.digits = 2, .smallest_exponent = -14, .largest = 57344.0F};
}

// Rounds a number that is not NaN.
uint8_t RoundToFp8(float value, const Fp8Layout& layout) {
  constexpr int kFloatBias = 127, kFloatDigits = 23;
  const float magnitude = std::min(std::fabs(value), layout.largest);
  const int field = static_cast<int>(std::bit_cast<uint32_t>(magnitude) >> kFloatDigits);
  const int exponent = std::max(field - kFloatBias, layout.smallest_exponent);
  // The spacing of the FP8 numbers near `magnitude` is 2^(exponent - digits). fp32 numbers from
  // `base` to 2 * base have the same spacing, so the processor rounds the sum as FP8 requires.
  const int base_field = exponent - layout.digits + kFloatDigits + kFloatBias;
  const uint32_t base_bits = static_cast<uint32_t>(base_field) << kFloatDigits;
  const float base = std::bit_cast<float>(base_bits);
  const uint32_t steps = std::bit_cast<uint32_t>(magnitude + base) - base_bits;
  const uint32_t binade = static_cast<uint32_t>(exponent - layout.smallest_exponent);
  const uint32_t sign = std::bit_cast<uint32_t>(value) >> 31;
  return static_cast<uint8_t>((sign << 7) | ((binade << layout.digits) + steps));
}

float NumberOfElement(uint8_t element, Fp8Format format) {
  const Fp8Layout layout = LayoutOf(format);
  const int magnitude = element & 0x7f;
  const int steps_per_binade = 1 << layout.digits;
  const int field = magnitude / steps_per_binade, digits = magnitude % steps_per_binade;
  const float sign = (element & 0x80) != 0 ? -1.0F : 1.0F;
  const float number = field == 0
                           ? layout.smallest_step() * static_cast<float>(digits)
                           : std::ldexp(static_cast<float>(steps_per_binade + digits),
                                        field - 1 + layout.smallest_exponent - layout.digits);
  if (number <= layout.largest) return sign * number;
  // E5M2 has infinity after the largest number and then NaN. E4M3 has only NaN.
  const bool is_infinite = format == Fp8Format::kE5M2 && digits == 0;
  return is_infinite ? sign * std::numeric_limits<float>::infinity()
                     : std::numeric_limits<float>::quiet_NaN();
}

std::array<float, kFp8Elements> AllFp8Numbers(Fp8Format format) {
  std::array<float, kFp8Elements> numbers{};
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = NumberOfElement(static_cast<uint8_t>(i), format);
  }
  return numbers;
}

const std::array<float, kFp8Elements>& NumberTable(Fp8Format format) {
  static const std::array<float, kFp8Elements> kE4M3 = AllFp8Numbers(Fp8Format::kE4M3);
  static const std::array<float, kFp8Elements> kE5M2 = AllFp8Numbers(Fp8Format::kE5M2);
  return format == Fp8Format::kE4M3 ? kE4M3 : kE5M2;
}

// Returns the elements of x * scale. x is in host memory.
Tensor RoundedElements(const Tensor& x, Fp8Format format, float scale) {
  const Tensor wide = x.to(torch::kFloat32).contiguous();
  const Tensor elements = torch::empty(x.sizes(), torch::kUInt8);
  const auto* from = wide.data_ptr<float>();
  auto* to = elements.data_ptr<uint8_t>();
  const Fp8Layout layout = LayoutOf(format);
  for (int64_t i = 0; i < wide.numel(); ++i) {
    const float scaled = from[i] * scale;
    to[i] = std::isnan(scaled) ? kNanElement : RoundToFp8(scaled, layout);
  }
  return elements;
}

// One arrangement of a matrix in FP8.
struct Elements {
  const Tensor& elements;
  const Fp8Matrix& matrix;

  Tensor In(torch::ScalarType type) const { return Fp8Numbers(elements, matrix.format).to(type); }
};

// Returns a b^T, divided by both scales, for a result of this type. GPUs too divide the sums and
// not the factors.
Tensor ScaledProduct(const Elements& a, const Elements& b, torch::ScalarType result) {
  const auto type = result == torch::kFloat64 ? torch::kFloat64 : torch::kFloat32;
  const Tensor sums = at::mm(a.In(type), b.In(type).t());
  return sums.mul(a.matrix.inverse_scale).mul_(b.matrix.inverse_scale);
}

void CheckFp8Input(const Tensor& x) {
  const auto type = x.scalar_type();
  TORCH_CHECK(c10::isFloatingType(type), "FP8 copies need floating-point numbers, not ", type);
  TORCH_CHECK(type != torch::kFloat64 || x.is_cpu(), "only CPUs make FP8 copies of fp64 numbers");
  TORCH_CHECK(x.is_contiguous(), "FP8 copies need a contiguous tensor");
}

}  // namespace

double LargestFp8(Fp8Format format) { return LayoutOf(format).largest; }

void RaiseAmax(const Tensor& x, const Tensor& amax) {
  CheckFp8Input(x);
  if (x.numel() == 0) return;
  if (gpu::HasKernels(x)) return gpu::RaiseAmax(x, amax);
  // Both functions return NaN if an argument contains NaN.
  amax.copy_(at::maximum(amax, x.to(torch::kFloat32).abs().max()));
}

void UpdateFp8Scale(const Tensor& amax, Fp8Format format, const Tensor& scale) {
  if (gpu::HasKernels(amax)) return gpu::UpdateFp8Scale(amax, format, scale);
  const Tensor quotient = LargestFp8(format) / amax;
  const Tensor finite = quotient.clamp_max(std::numeric_limits<float>::max());
  scale.copy_(at::where(at::logical_and(amax > 0, at::isfinite(amax)), finite, scale));
}

Fp8Matrix ToFp8(const Tensor& x, Fp8Format format, const Fp8Scale& scale,
                Fp8Arrangement arrangement) {
  CheckFp8Input(x);
  if (gpu::HasKernels(x)) return gpu::ToFp8(x, format, scale, arrangement);
  if (scale.amax.defined()) RaiseAmax(x, scale.amax);
  const Tensor elements = RoundedElements(x, format, scale.scale.item<float>());
  Fp8Matrix result{.format = format, .inverse_scale = scale.scale.reciprocal()};
  if (arrangement != Fp8Arrangement::kColumns) result.rows = elements;
  if (arrangement != Fp8Arrangement::kRows) result.columns = elements.t().contiguous();
  return result;
}

Tensor Fp8Numbers(const Tensor& elements, Fp8Format format) {
  const auto& table = NumberTable(format);
  const Tensor in_host = elements.cpu().contiguous();
  const Tensor numbers = torch::empty(elements.sizes(), torch::kFloat32);
  const auto* from = in_host.data_ptr<uint8_t>();
  auto* to = numbers.data_ptr<float>();
  for (int64_t i = 0; i < in_host.numel(); ++i) to[i] = table[from[i]];
  return numbers.to(elements.device());
}

void Fp8LinearForward(const Fp8Matrix& x, const Fp8Matrix& weight, Tensor& y) {
  if (gpu::HasKernels(y)) return gpu::Fp8LinearForward(x, weight, y);
  y.copy_(ScaledProduct({x.rows, x}, {weight.rows, weight}, y.scalar_type()));
}

void Fp8LinearInputGradient(const Fp8Matrix& dy, const Fp8Matrix& weight, Tensor& dx) {
  if (gpu::HasKernels(dx)) return gpu::Fp8LinearInputGradient(dy, weight, dx);
  dx.copy_(ScaledProduct({dy.rows, dy}, {weight.columns, weight}, dx.scalar_type()));
}

void Fp8LinearWeightGradient(const Fp8Matrix& dy, const Fp8Matrix& x,
                             const GradientTarget& target) {
  Tensor gradient = target.gradient;
  if (gpu::HasKernels(gradient)) return gpu::Fp8LinearWeightGradient(dy, x, target);
  const Tensor product = ScaledProduct({dy.columns, dy}, {x.columns, x}, gradient.scalar_type());
  target.accumulate ? gradient.add_(product) : gradient.copy_(product);
}

}  // namespace trainyard::trainer
