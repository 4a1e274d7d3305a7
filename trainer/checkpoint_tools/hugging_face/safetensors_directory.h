// The weights of a Hugging Face directory: model.safetensors, or the shards listed in
// model.safetensors.index.json.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_SAFETENSORS_DIRECTORY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_SAFETENSORS_DIRECTORY_H_

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "trainer/checkpoint/box.h"

namespace trainyard::trainer {

inline constexpr char kSafetensorsName[] = "model.safetensors";
inline constexpr char kSafetensorsIndexName[] = "model.safetensors.index.json";

// Location of a tensor: bytes [begin, end) of a file, row-major.
struct PlacedTensor {
  std::string path;
  torch::ScalarType dtype = torch::kFloat32;
  Extents shape;
  int64_t begin = 0;
  int64_t end = 0;
};

using PlacedTensors = std::map<std::string, PlacedTensor>;

// Reads the index and the header of every file, and checks that the files have the listed tensors.
// Uses model.safetensors if both exist, like transformers. Throws TrainerError kBadCheckpoint
// naming a file that is missing, truncated or not safetensors, or that lacks a tensor the index
// assigns to it.
PlacedTensors ReadSafetensorsDirectory(const std::string& directory);

// Name of a directory entry that is not made by an export; empty if there is none, so that
// replacing the directory loses nothing else.
std::string EntryThatIsNoExport(const std::string& directory);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_SAFETENSORS_DIRECTORY_H_
