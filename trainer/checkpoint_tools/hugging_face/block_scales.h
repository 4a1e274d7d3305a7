// FP8 weights with one scale per block of 128 x 128 elements, as DeepSeek-V3 publishes them
// (arXiv 2412.19437, section 3.3).
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_BLOCK_SCALES_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_BLOCK_SCALES_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "trainer/checkpoint_tools/hugging_face/safetensors_directory.h"

namespace trainyard::trainer {

inline constexpr int64_t kScaleBlock = 128;

// Connects each FP8 weight with the scales of its blocks, "NAME_scale_inv", and removes the scales
// from the tensors. The weight is read as bf16. Without FP8 weights, changes nothing. Throws
// TrainerError: kBadConfig if config.json describes a different quantization or block size,
// kBadCheckpoint if scales are missing or have the wrong shape or type.
PlacedTensors WithBlockScales(PlacedTensors tensors, const nlohmann::json& config,
                              const std::string& directory);

// Returns the value of an E4M3 number (OCP 8-bit floating point, E4M3: no infinity, 0x7f and 0xff
// are NaN).
float FromE4M3(uint8_t bits);

// Converts elements [first, first + count) of a matrix to bf16 (rounded to nearest even). `bits`
// has these elements in E4M3. `scales` has one factor per block, row by row.
void ScaleBlocks(const uint8_t* bits, int64_t first, int64_t count, int64_t columns,
                 const std::vector<float>& scales, uint16_t* out);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_BLOCK_SCALES_H_
