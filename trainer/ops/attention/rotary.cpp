#include "trainer/ops/attention/rotary.h"

#include <algorithm>
#include <cmath>

#include "trainer/ops/gpu.h"
#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {

using torch::Tensor;

namespace {

// Returns the part of each frequency that YaRN keeps, from 0 to 1: [rotary_size / 2], fp64.
Tensor KeptByYarn(int64_t rotary_size, const RotaryFrequencies& of) {
  const auto last = static_cast<double>(rotary_size - 1);
  const auto index_of = [&](double turns) {
    return static_cast<double>(rotary_size) * std::log(of.original_length / (turns * 2 * M_PI)) /
           (2 * std::log(of.base));
  };
  const double low = std::max(std::floor(index_of(of.yarn->beta_fast)), 0.0);
  const double high = std::min(std::ceil(index_of(of.yarn->beta_slow)), last);
  // Equal limits would divide by zero. DeepSeek's code then uses 0.001, too.
  const double width = high == low ? 0.001 : high - low;
  const Tensor index =
      torch::arange(rotary_size / 2, torch::TensorOptions().dtype(torch::kFloat64));
  return 1 - ((index - low) / width).clamp(0, 1);
}

// Returns the factor of cosines and sines.
double MagnitudeOf(const RotaryFrequencies& of) {
  if (!of.yarn.has_value()) return 1;
  return YarnMagnitude(of.scaling_factor, of.yarn->mscale) /
         YarnMagnitude(of.scaling_factor, of.yarn->mscale_all_dim);
}

// Returns the rotation angle per position for each pair of elements, [rotary_size / 2], fp64.
Tensor AnglesOfOnePosition(int64_t rotary_size, const RotaryFrequencies& of) {
  const auto exact = torch::TensorOptions().dtype(torch::kFloat64);
  const Tensor exponents =
      torch::arange(0, rotary_size, 2, exact) / static_cast<double>(rotary_size);
  const Tensor plain = torch::pow(of.base, exponents).reciprocal();
  if (of.scaling_factor == 1) return plain;
  const Tensor turns = plain * (of.original_length / (2 * M_PI));
  const Tensor kept =
      of.yarn.has_value()
          ? KeptByYarn(rotary_size, of)
          : ((turns - of.low_factor) / (of.high_factor - of.low_factor)).clamp(0, 1);
  return plain * (kept + (1 - kept) / of.scaling_factor);
}

}  // namespace

double YarnMagnitude(double scaling_factor, double mscale) {
  return 1 + 0.1 * mscale * std::log(scaling_factor);
}

RotaryTable MakeRotaryTable(const Tensor& positions, int64_t rotary_size,
                            const RotaryFrequencies& of, torch::ScalarType type) {
  const Tensor frequencies = AnglesOfOnePosition(rotary_size, of);
  const Tensor angles = torch::outer(positions.to(torch::kCPU, torch::kFloat64), frequencies);
  const torch::Device device = positions.device();
  const double magnitude = MagnitudeOf(of);
  return {angles.cos().mul_(magnitude).to(type).to(device),
          angles.sin().mul_(magnitude).to(type).to(device)};
}

void RotateHeads(const Tensor& heads, const RotaryTable& table, Rotation rotation) {
  const int64_t half = table.cos.size(1);
  const double direction = rotation == Rotation::kForward ? 1 : -1;
  const auto compute = ComputeType(heads.scalar_type());
  const Tensor cos = table.cos.unsqueeze(1), sin = table.sin.unsqueeze(1);
  Tensor first = heads.narrow(3, 0, half), second = heads.narrow(3, half, half);
  if (heads.scalar_type() == compute) {
    const Tensor kept_first = first.clone();
    first.mul_(cos).addcmul_(second, sin, -direction);
    second.mul_(cos).addcmul_(kept_first, sin, direction);
    return;
  }
  const Tensor wide_first = first.to(compute), wide_second = second.to(compute);
  first.copy_((wide_first * cos).addcmul_(wide_second, sin, -direction));
  second.copy_((wide_second * cos).addcmul_(wide_first, sin, direction));
}

void Rotate(Tensor& packed, const RotaryTable& table, const AttentionHeads& heads,
            Rotation rotation) {
  if (table.cos.size(0) != packed.size(1)) {  // Table of all samples: rotate as one sample.
    Tensor rows = packed.view({1, packed.size(0) * packed.size(1), packed.size(2), packed.size(3)});
    return Rotate(rows, table, heads, rotation);
  }
  if (gpu::HasKernels(packed)) return gpu::Rotate(packed, table, heads, rotation);
  RotateHeads(
      packed.narrow(2, 0, heads.query_heads + heads.key_heads).narrow(3, 0, 2 * table.cos.size(1)),
      table, rotation);
}

}  // namespace trainyard::trainer
