// The weights of a Hugging Face directory: model.safetensors, or the shards that
// model.safetensors.index.json lists.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_SAFETENSORS_DIRECTORY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_SAFETENSORS_DIRECTORY_H_

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "trainer/checkpoint/box.h"

namespace trainyard::trainer {

inline constexpr char kSafetensorsName[] = "model.safetensors";
inline constexpr char kSafetensorsIndexName[] = "model.safetensors.index.json";

// A tensor's place: bytes [begin, end) of a file, row-major.
struct PlacedTensor {
  std::string path;
  torch::ScalarType dtype = torch::kFloat32;
  Extents shape;
  int64_t begin = 0;
  int64_t end = 0;
};

using PlacedTensors = std::map<std::string, PlacedTensor>;

// Reads the index and the header of every file, and checks that the files hold what both say. Takes
// model.safetensors where both are there, as transformers does. Throws TrainerError kBadCheckpoint
// that names the file: one that is missing, cut short or no safetensors file, or a tensor that is
// not in the file that the index names.
PlacedTensors ReadSafetensorsDirectory(const std::string& directory);

// Name of an entry of the directory that an export does not make; empty when there is none, so that
// replacing the directory loses nothing else.
std::string EntryThatIsNoExport(const std::string& directory);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_SAFETENSORS_DIRECTORY_H_
