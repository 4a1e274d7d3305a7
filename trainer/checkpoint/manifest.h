// manifest.json: the contents of a published checkpoint. README.md describes the format.
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

// Each block of a chunk has a checksum, so that a part of a chunk can be checked without the rest.
// Small against what a rank reads of a layer, where a block in which two ranks' parts meet is read
// by both; large enough to read at the speed of a disk.
inline constexpr int64_t kBlockBytes = int64_t{4} << 20;
inline constexpr int64_t kBlockBytesOfVersion3 = int64_t{16} << 20;
// Blocks of any version that have a checksum of their own; so much is read at a time.
inline constexpr int64_t kLargestBlockBytes = kBlockBytesOfVersion3;

struct StoredChunk {
  Box box;
  std::string file;   // inside the checkpoint's directory
  int64_t begin = 0;  // bytes [begin, end) of the file
  int64_t end = 0;
  std::vector<uint64_t> xxh64;        // of each block; the last one may be shorter
  int64_t block_bytes = kBlockBytes;  // all of the chunk where versions 1 and 2 wrote it
};

struct StoredTensor {
  torch::ScalarType dtype = torch::kFloat32;
  Extents shape;  // of the logical tensor
  std::vector<StoredChunk> chunks;
};

struct StoredFile {
  int64_t bytes = 0;
  int64_t header_bytes = 0;   // before the first chunk
  uint64_t header_xxh64 = 0;  // of the header bytes
};

// Files and tensors written by one rank (rank_NNNNN.json), or by all ranks after Merge.
struct Entries {
  std::map<std::string, StoredFile> files;
  std::map<std::string, StoredTensor> tensors;
};

struct Manifest {
  int64_t step = 0;
  AttemptKey attempt;  // that published it; manifests of earlier versions name no job
  int world_size = 0;
  std::string model_fingerprint;
  nlohmann::json trainer_state;
  Entries entries;
};

constexpr char kManifestName[] = "manifest.json";

// Throws TrainerError kBadCheckpoint for a checkpoint whose file `path` is damaged.
[[noreturn]] void ThrowDamaged(const std::string& path, const std::string& what);

// Names of safetensors, such as "BF16". Throws TrainerError kInternal for a dtype without one.
std::string DtypeName(torch::ScalarType dtype);
// The dtype of this name; nullopt when checkpoints have none.
std::optional<torch::ScalarType> DtypeNamed(const std::string& name);

std::string EntriesToText(const Entries& entries);
// `path` is for messages. Throws TrainerError kBadCheckpoint.
Entries EntriesFromText(const std::string& text, const std::string& path);

std::string ManifestToText(const Manifest& manifest);
// Checks the text's own checksum, every number, and that chunks lie inside tensors and files and
// cover each tensor exactly. Throws TrainerError kBadCheckpoint.
Manifest ManifestFromText(const std::string& text, const std::string& path);

// Adds the entries of another rank. Throws TrainerError kInternal when a tensor's type or shape
// differs between the two.
void Merge(const Entries& more, Entries* all);
// Throws TrainerError kInternal when chunks leave out a part of a tensor or hold a part twice.
void CheckCoverage(const Entries& entries);

// "rank_00003.safetensors" and "rank_00003.json".
std::string RankDataName(int rank);
std::string RankEntriesName(int rank);
// "step_000000100"
std::string StepDirectoryName(int64_t step);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_MANIFEST_H_
