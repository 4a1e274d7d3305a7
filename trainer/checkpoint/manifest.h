// manifest.json, which lists the contents of a published checkpoint. README.md describes the
// format.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_MANIFEST_H_
#define TRAINYARD_TRAINER_CHECKPOINT_MANIFEST_H_

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "proto/contract/attempt_key.h"
#include "trainer/checkpoint/box.h"

namespace trainyard::trainer {

// The size of a block. Each block of a chunk has its own checksum, so that a part of a chunk can be
// verified without reading the rest. A block is small compared with the part of a layer that a rank
// reads, because a rank that needs only a part of a block must read the whole block. A block is
// large enough to be read at the full speed of the disk.
inline constexpr int64_t kBlockBytes = int64_t{4} << 20;
inline constexpr int64_t kBlockBytesOfVersion3 = int64_t{16} << 20;
// The size of the largest block that has its own checksum in any version. It is also the largest
// size of a read.
inline constexpr int64_t kLargestBlockBytes = kBlockBytesOfVersion3;

struct StoredChunk {
  Box box;
  std::string file;   // Name of the file in the checkpoint's directory.
  int64_t begin = 0;  // The chunk is bytes [begin, end) of the file.
  int64_t end = 0;
  std::vector<uint64_t> xxh64;        // One checksum per block. The last block may be shorter.
  int64_t block_bytes = kBlockBytes;  // In versions 1 and 2, the size of the whole chunk.
};

struct StoredTensor {
  torch::ScalarType dtype = torch::kFloat32;
  Extents shape;  // Shape of the logical tensor.
  std::vector<StoredChunk> chunks;
};

struct StoredFile {
  int64_t bytes = 0;
  int64_t header_bytes = 0;   // Number of bytes before the first chunk.
  uint64_t header_xxh64 = 0;  // Checksum of the header bytes.
};

// The files and tensors written by one rank (rank_NNNNN.json). After Merge, the files and tensors
// of all ranks.
struct Entries {
  std::map<std::string, StoredFile> files;
  std::map<std::string, StoredTensor> tensors;
};

struct Manifest {
  int64_t step = 0;
  AttemptKey attempt;  // Attempt that published the checkpoint. Earlier versions store no job.
  int world_size = 0;
  std::string model_fingerprint;
  nlohmann::json trainer_state;
  Entries entries;
};

constexpr char kManifestName[] = "manifest.json";

// Throws TrainerError kBadCheckpoint for a damaged file `path` of a checkpoint.
[[noreturn]] void ThrowDamaged(const std::string& path, const std::string& what);

// Returns the dtype's name in safetensors, such as "BF16". Throws TrainerError kInternal if the
// dtype is not supported.
std::string DtypeName(torch::ScalarType dtype);
// Returns the dtype with this name; nullopt if checkpoints do not support the dtype.
std::optional<torch::ScalarType> DtypeNamed(const std::string& name);

std::string EntriesToText(const Entries& entries);
// Parses the text of a rank's list. `path` is the path of the list, for messages. Throws
// TrainerError kBadCheckpoint.
Entries EntriesFromText(const std::string& text, const std::string& path);

std::string ManifestToText(const Manifest& manifest);
// Parses a manifest. Verifies the checksum of the text and every number. Checks that each chunk is
// inside its tensor and its file, and that the chunks cover each tensor exactly. Throws
// TrainerError kBadCheckpoint.
Manifest ManifestFromText(const std::string& text, const std::string& path);

// Adds the entries of another rank to `all`. Throws TrainerError kInternal if both contain a tensor
// of the same name, but with different types or shapes.
void Merge(const Entries& more, Entries* all);
// Throws TrainerError kInternal if some part of a tensor is in no chunk or in several chunks.
void CheckCoverage(const Entries& entries);

// For rank 3, RankDataName returns "rank_00003.safetensors", and RankEntriesName returns
// "rank_00003.json".
std::string RankDataName(int rank);
std::string RankEntriesName(int rank);
// Returns "step_000000100".
std::string StepDirectoryName(int64_t step);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_MANIFEST_H_
