// The safetensors files of a checkpoint, each of which one rank writes.
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
#include "trainer/checkpoint/checkpoint_writer.h"
#include "trainer/checkpoint/durable_file.h"
#include "trainer/checkpoint/manifest.h"

namespace trainyard::trainer {

// A box of a logical tensor that a file will hold.
struct PlannedChunk {
  std::string name;  // of the tensor
  torch::ScalarType dtype = torch::kFloat32;
  Extents global_shape;  // of the tensor
  Box box;
};

int64_t BytesOf(const PlannedChunk& chunk);

// Writes a file from its front to its end, and keeps nothing of it but checksums. A chunk that is a
// whole tensor is stored under the tensor's name, so that any reader of safetensors finds it;
// others get "@offset" behind it. Throws TrainerError: kCannotWrite, or kInternal for a dtype that
// cannot be stored.
class RankFileWriter {
 public:
  // Makes directory/name with its header. Chunks of wider elements come before those of narrower
  // ones: the format wants them back to back, and so each is aligned to its own size.
  RankFileWriter(const std::string& directory, std::string name, std::vector<PlannedChunk> chunks);

  // Appends the next bytes: whole blocks of kBlockBytes of a chunk, or all that is left of it. The
  // chunks follow each other in the order of the constructor's list.
  void Append(std::string_view bytes);

  // Makes the file durable, once all bytes are there, and returns the entries that describe it.
  // Without this call the file is left as it is.
  Entries Finish();

 private:
  void FinishChunk();

  const std::string name_;
  const std::vector<PlannedChunk> chunks_;
  DurableFileWriter file_;
  Entries entries_;
  int64_t bytes_ = 0;                // of the file so far
  size_t chunk_ = 0;                 // that the next bytes belong to
  int64_t chunk_begin_ = 0;          // in the file
  std::vector<uint64_t> checksums_;  // of the chunk's blocks so far
};

// Writes the chunks (contiguous CPU tensors) to directory/RankDataName(rank), durably, and returns
// the entries that describe them. Throws like RankFileWriter.
// before_block: called before each block; what it throws ends the writing. May be null.
Entries WriteRankFile(const std::string& directory, int rank,
                      const std::vector<TensorChunk>& chunks,
                      const std::function<void()>& before_block = nullptr);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_RANK_FILE_H_
