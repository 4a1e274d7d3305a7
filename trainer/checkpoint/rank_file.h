// Writes the safetensors files of a checkpoint. Each file is written by one rank.
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

// A box of a logical tensor that is to be stored in a file.
struct PlannedChunk {
  std::string name;
  torch::ScalarType dtype = torch::kFloat32;
  Extents global_shape;  // Shape of the tensor.
  Box box;
};

int64_t BytesOf(const PlannedChunk& chunk);

// Writes a file sequentially, and keeps only checksums of the written bytes in memory. A chunk that
// is a whole tensor is stored under the tensor's name, so that every safetensors reader finds it.
// Other chunks get the suffix "@offset". Throws TrainerError: kCannotWrite, or kInternal if a dtype
// is not supported.
class RankFileWriter {
 public:
  // Creates directory/name and writes its header. Chunks with wider elements must precede chunks
  // with narrower elements. The format stores chunks without gaps, so this order aligns each chunk
  // to the size of its elements.
  RankFileWriter(const std::string& directory, std::string name, std::vector<PlannedChunk> chunks);

  // Appends the next bytes of a chunk: whole blocks of kBlockBytes, or all remaining bytes of the
  // chunk. Chunks must be appended in the order of the constructor's list.
  void Append(std::string_view bytes);

  // Makes the complete file durable and returns the entries that describe it. If Finish is not
  // called, the incomplete file is kept.
  Entries Finish();

 private:
  void FinishChunk();

  const std::string name_;
  const std::vector<PlannedChunk> chunks_;
  DurableFileWriter file_;
  Entries entries_;
  int64_t bytes_ = 0;                // Number of bytes written to the file so far.
  size_t chunk_ = 0;                 // Index of the chunk to which the next bytes belong.
  int64_t chunk_begin_ = 0;          // Offset of that chunk in the file.
  std::vector<uint64_t> checksums_;  // Checksums of the chunk's completed blocks.
};

// Writes the chunks (contiguous CPU tensors) durably to directory/RankDataName(rank). Returns the
// entries that describe them. Throws the same errors as RankFileWriter. `before_block` is called
// before each block and may be null; if it throws, writing ends with its exception.
Entries WriteRankFile(const std::string& directory, int rank,
                      const std::vector<TensorChunk>& chunks,
                      const std::function<void()>& before_block = nullptr);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_RANK_FILE_H_
