#include "trainer/checkpoint_tools/hugging_face/block_scales.h"

#include <c10/util/BFloat16.h>

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

constexpr char kQuantization[] = "quantization_config";
constexpr char kSuffix[] = "_scale_inv";

int64_t BlocksOf(int64_t extent) { return (extent + kScaleBlock - 1) / kScaleBlock; }

void CheckQuantization(const json& config, const std::string& directory) {
  const json quantization = config.value(kQuantization, json());
  if (quantization.is_null()) return;
  const std::string path = directory + "/config.json";
  const json method = quantization.value("quant_method", json());
  if (method != "fp8") {
    throw TrainerError(ExitCode::kBadConfig, path + " has weights of quantization " +
                                                 method.dump() +
                                                 "; an import supports only \"fp8\" with blocks "
                                                 "of 128 x 128; use the bf16 weights");
  }
  const json block = quantization.value("weight_block_size", json());
  if (block == json::array({kScaleBlock, kScaleBlock})) return;
  throw TrainerError(ExitCode::kBadConfig,
                     path + " has FP8 scales of blocks of " + block.dump() +
                         "; an import supports only [128,128]; use the bf16 weights");
}

[[noreturn]] void RefuseScales(const std::string& path, const std::string& reason) {
  throw TrainerError(ExitCode::kBadCheckpoint,
                     path + " " + reason + "; fetch it again, or use the bf16 weights");
}

// Makes the weight a bf16 tensor that is computed from its FP8 elements and the scales.
void Connect(const std::string& name, const PlacedTensors& all, PlacedTensor& weight) {
  const auto found = all.find(name + kSuffix);
  if (found == all.end()) {
    RefuseScales(weight.path,
                 "has the FP8 tensor " + name + " without its scales, " + name + kSuffix);
  }
  const PlacedTensor& scales = found->second;
  if (weight.shape.size() != 2 || scales.dtype != torch::kFloat32) {
    RefuseScales(weight.path,
                 "has the FP8 tensor " + name + ", which is not a matrix with scales of type F32");
  }
  const Extents expected = {BlocksOf(weight.shape[0]), BlocksOf(weight.shape[1])};
  if (scales.shape != expected) {
    RefuseScales(scales.path, "has scales " + name + kSuffix + " of shape " + ToText(scales.shape) +
                                  " instead of " + ToText(expected) +
                                  ", one per block of 128 x 128");
  }
  weight.scales = std::make_shared<PlacedTensor>(scales);
  weight.dtype = torch::kBFloat16;
}

std::array<float, 256> TableOfE4M3() {
  std::array<float, 256> table;
  for (size_t bits = 0; bits < table.size(); ++bits) {
    table[bits] = FromE4M3(static_cast<uint8_t>(bits));
  }
  return table;
}

}  // namespace

PlacedTensors WithBlockScales(PlacedTensors tensors, const json& config,
                              const std::string& directory) {
  CheckQuantization(config, directory);
  PlacedTensors connected;
  for (const auto& [name, tensor] : tensors) {
    if (name.ends_with(kSuffix)) {
      const std::string weight = name.substr(0, name.size() - std::string(kSuffix).size());
      const auto found = tensors.find(weight);
      if (found != tensors.end() && found->second.is_e4m3) continue;
    }
    PlacedTensor& copy = connected[name] = tensor;
    if (tensor.is_e4m3) Connect(name, tensors, copy);
  }
  return connected;
}

float FromE4M3(uint8_t bits) {
  const int exponent = (bits >> 3) & 15, mantissa = bits & 7;
  if ((bits & 0x7f) == 0x7f) return std::numeric_limits<float>::quiet_NaN();
  // The smallest exponent has numbers without an implicit leading 1.
  const float size = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -9)
                                   : std::ldexp(static_cast<float>(8 + mantissa), exponent - 10);
  return (bits & 0x80) != 0 ? -size : size;
}

void ScaleBlocks(const uint8_t* bits, int64_t first, int64_t count, int64_t columns,
                 const std::vector<float>& scales, uint16_t* out) {
  static const std::array<float, 256> table = TableOfE4M3();
  const int64_t blocks = BlocksOf(columns);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = (first + i) / columns, column = (first + i) % columns;
    const float scale =
        scales[static_cast<size_t>(row / kScaleBlock * blocks + column / kScaleBlock)];
    out[i] = c10::BFloat16(table[bits[i]] * scale).x;
  }
}

}  // namespace trainyard::trainer
