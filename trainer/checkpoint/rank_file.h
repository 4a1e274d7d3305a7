// The safetensors files of a checkpoint, each written by one rank.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_RANK_FILE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_RANK_FILE_H_

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/checkpoint/box.h"
#include "trainer/checkpoint/durable_file.h"
#include "trainer/checkpoint/host_copy.h"
#include "trainer/checkpoint/manifest.h"

namespace trainyard::trainer {

// A box of a logical tensor to be stored in a file.
struct PlannedChunk {
  std::string name;  // Name of the tensor.
  torch::ScalarType dtype = torch::kFloat32;
  Extents global_shape;  // Shape of the tensor.
  Box box;
};

int64_t BytesOf(const PlannedChunk& chunk);

// Writes a file sequentially and keeps only checksums of it in memory. A chunk that is a whole
// tensor is stored under the tensor's name, so that any safetensors reader finds it; other chunks
// get the suffix "@offset". Throws TrainerError: kCannotWrite, or kInternal for an unsupported
// dtype.
class RankFileWriter {
 public:
  // Creates directory/name with its header. Chunks with wider elements must precede those with
  // narrower ones: the format stores them back to back, so this order aligns each to its own size.
  RankFileWriter(const std::string& directory, std::string name, std::vector<PlannedChunk> chunks);

  // Appends the next bytes: whole blocks of kBlockBytes of a chunk, or all its remaining bytes.
  // Chunks follow in the order of the constructor's list.
  void Append(std::string_view bytes);

  // Makes the complete file durable and returns the entries that describe it. Without this call the
  // file remains as it is.
  Entries Finish();

 private:
  void FinishChunk();

  const std::string name_;
  const std::vector<PlannedChunk> chunks_;
  DurableFileWriter file_;
  Entries entries_;
  int64_t bytes_ = 0;                // Bytes written to the file.
  size_t chunk_ = 0;                 // Chunk of the next bytes.
  int64_t chunk_begin_ = 0;          // Offset in the file.
  std::vector<uint64_t> checksums_;  // Checksums of the chunk's blocks so far.
};

// Writes the chunks (contiguous CPU tensors) durably to directory/RankDataName(rank) and returns
// the entries that describe them. Throws like RankFileWriter. before_block: called before each
// block; its exception aborts the writing. May be null.
Entries WriteRankFile(const std::string& directory, int rank,
                      const std::vector<TensorChunk>& chunks,
                      const std::function<void()>& before_block = nullptr);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_RANK_FILE_H_
