// manifest.json: the contents of a published checkpoint. The format is in README.md.
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

// Each block of a chunk has a checksum, so that part of a chunk can be verified without the rest.
// Blocks are small compared with a rank's reads of a layer, because two ranks whose parts meet in a
// block both read it. They are large enough to be read at full disk speed.
inline constexpr int64_t kBlockBytes = int64_t{4} << 20;
inline constexpr int64_t kBlockBytesOfVersion3 = int64_t{16} << 20;
// Largest block with its own checksum in any version; also the read size.
inline constexpr int64_t kLargestBlockBytes = kBlockBytesOfVersion3;

struct StoredChunk {
  Box box;
  std::string file;   // Name in the checkpoint's directory.
  int64_t begin = 0;  // Bytes [begin, end) of the file.
  int64_t end = 0;
  std::vector<uint64_t> xxh64;        // One per block; the last block may be shorter.
  int64_t block_bytes = kBlockBytes;  // The whole chunk in versions 1 and 2.
};

struct StoredTensor {
  torch::ScalarType dtype = torch::kFloat32;
  Extents shape;  // Shape of the logical tensor.
  std::vector<StoredChunk> chunks;
};

struct StoredFile {
  int64_t bytes = 0;
  int64_t header_bytes = 0;   // Before the first chunk.
  uint64_t header_xxh64 = 0;  // Checksum of the header bytes.
};

// Files and tensors written by one rank (rank_NNNNN.json), or by all ranks after Merge.
struct Entries {
  std::map<std::string, StoredFile> files;
  std::map<std::string, StoredTensor> tensors;
};

struct Manifest {
  int64_t step = 0;
  AttemptKey attempt;  // Attempt that published it. Earlier versions have no job.
  int world_size = 0;
  std::string model_fingerprint;
  nlohmann::json trainer_state;
  Entries entries;
};

constexpr char kManifestName[] = "manifest.json";

// Throws TrainerError kBadCheckpoint for a damaged file `path` of a checkpoint.
[[noreturn]] void ThrowDamaged(const std::string& path, const std::string& what);

// Name in safetensors, such as "BF16". Throws TrainerError kInternal for an unsupported dtype.
std::string DtypeName(torch::ScalarType dtype);
// The dtype with this name; nullopt if checkpoints do not support it.
std::optional<torch::ScalarType> DtypeNamed(const std::string& name);

std::string EntriesToText(const Entries& entries);
// path: for messages. Throws TrainerError kBadCheckpoint.
Entries EntriesFromText(const std::string& text, const std::string& path);

std::string ManifestToText(const Manifest& manifest);
// Verifies the text's own checksum and every number, and checks that chunks are inside tensors and
// files and cover each tensor exactly. Throws TrainerError kBadCheckpoint.
Manifest ManifestFromText(const std::string& text, const std::string& path);

// Adds the entries of another rank. Throws TrainerError kInternal if a tensor's type or shape
// differs between the two.
void Merge(const Entries& more, Entries* all);
// Throws TrainerError kInternal if chunks omit or duplicate part of a tensor.
void CheckCoverage(const Entries& entries);

// Returns "rank_00003.safetensors" and "rank_00003.json".
std::string RankDataName(int rank);
std::string RankEntriesName(int rank);
// Returns "step_000000100".
std::string StepDirectoryName(int64_t step);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_MANIFEST_H_
