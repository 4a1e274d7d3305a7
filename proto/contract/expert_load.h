// The load of an expert as one byte, in telemetry and in the store, and the limits of its records.
#ifndef TRAINYARD_PROTO_CONTRACT_EXPERT_LOAD_H_
#define TRAINYARD_PROTO_CONTRACT_EXPERT_LOAD_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace trainyard {

// The maximum number of loads in one record. Enough for the largest published models (60 layers of
// 384 experts). As hexadecimal digits, so many loads fit into a telemetry line of 64 KiB.
inline constexpr std::size_t kMaxExpertLoads = 24'576;

// The maximum number of experts of a layer (model.num_experts), and of layers.
inline constexpr int kMaxExpertsOfLayer = 65'536;
inline constexpr int kMaxLayers = 65'536;

// The sizes of a record, and its first layer.
struct ExpertShape {
  std::int64_t first_layer = 0;  // Counted from 0.
  std::int64_t layers = 0;
  std::int64_t experts = 0;  // Experts per layer.
  std::int64_t topk = 0;     // Experts per token.

  friend bool operator==(const ExpertShape&, const ExpertShape&) = default;
};

// Returns true if a record may have this shape.
inline bool IsAllowed(const ExpertShape& shape) {
  const bool has_layers = shape.layers >= 1 && shape.layers <= kMaxLayers &&
                          shape.first_layer >= 0 && shape.first_layer <= kMaxLayers;
  return has_layers && shape.experts >= 1 && shape.experts <= kMaxExpertsOfLayer &&
         shape.topk >= 1 && shape.topk <= shape.experts;
}

// Returns true if a record of this allowed shape may have `loads` loads: one for each expert of
// each layer.
inline bool HasAllLoads(const ExpertShape& shape, std::size_t loads) {
  return loads <= kMaxExpertLoads &&
         loads == static_cast<std::size_t>(shape.layers) * static_cast<std::size_t>(shape.experts);
}

// The highest possible balance (the highest load divided by the mean load): all tokens use the same
// `topk` experts.
inline double WorstBalance(std::int64_t experts, std::int64_t topk) {
  return static_cast<double>(experts) / static_cast<double>(std::max<std::int64_t>(topk, 1));
}

// The code of a load relative to the mean of its layer. Code 0 means no rows. The other codes form
// a scale with steps of 4.4 %: code c means 2^((c - 128) / 16), from 1/245 to 245.
inline std::uint8_t ExpertLoadCode(double relative) {
  if (!(relative > 0)) return 0;
  return static_cast<std::uint8_t>(
      std::clamp(std::round(128 + 16 * std::log2(relative)), 1.0, 255.0));
}

// Returns the load relative to the mean, with three digits. A code is less precise than that.
inline double ExpertLoadOf(std::uint8_t code) {
  if (code == 0) return 0;
  const double relative = std::exp2((code - 128) / 16.0);
  const double scale = std::pow(10.0, 2 - std::floor(std::log10(relative)));
  return std::round(relative * scale) / scale;
}

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_EXPERT_LOAD_H_
