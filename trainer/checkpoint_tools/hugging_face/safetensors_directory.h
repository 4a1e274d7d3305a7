// Reads the weights of a Hugging Face directory from model.safetensors, or from the shards listed
// in model.safetensors.index.json.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_SAFETENSORS_DIRECTORY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_SAFETENSORS_DIRECTORY_H_

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "trainer/checkpoint/box.h"

namespace trainyard::trainer {

inline constexpr char kSafetensorsName[] = "model.safetensors";
inline constexpr char kSafetensorsIndexName[] = "model.safetensors.index.json";

// The location of a tensor: bytes [begin, end) of a file, stored row-major.
struct PlacedTensor {
  std::string path;
  torch::ScalarType dtype = torch::kFloat32;
  Extents shape;
  int64_t begin = 0;
  int64_t end = 0;
  // True if the bytes are E4M3 numbers. In that case `dtype` is kByte or, with scales, the type of
  // the scaled values (block_scales.h).
  bool is_e4m3 = false;
  std::shared_ptr<const PlacedTensor> scales = {};  // Scales of the E4M3 blocks; may be null.
};

using PlacedTensors = std::map<std::string, PlacedTensor>;

// Reads the index and the header of every file, and checks that each file contains the tensors that
// the index lists for that file. If model.safetensors and an index both exist, uses
// model.safetensors, as transformers does. Throws TrainerError kBadCheckpoint if a file is missing,
// truncated or not safetensors, or lacks a tensor listed in the index. The message names the file.
PlacedTensors ReadSafetensorsDirectory(const std::string& directory);

// Returns the name of a directory entry that no export creates; "" if there is none. If the result
// is "", the directory can be replaced without losing other data.
std::string EntryThatIsNoExport(const std::string& directory);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_SAFETENSORS_DIRECTORY_H_
