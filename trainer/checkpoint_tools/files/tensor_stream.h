// Reads one tensor of a checkpoint from its first element to its last, however the tensor is
// divided into boxes.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_TENSOR_STREAM_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_TENSOR_STREAM_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trainer/checkpoint/chunk_reader.h"
#include "trainer/checkpoint/manifest.h"

namespace trainyard::trainer {

// Reads a tensor in row-major order. Each box stores its elements in this order, too. Therefore
// each block is read once, verified, and kept in memory until its last element has been returned.
// Memory: `kept_bytes` for kept blocks, plus one block per thread (kThreads). If a tensor is split
// into so many columns that one block of each column exceeds `kept_bytes`, some blocks are read
// again.
class TensorStream {
 public:
  static constexpr int64_t kKeptBytes = int64_t{256} << 20;
  static constexpr int64_t kThreads = 8;

  // `directory` is the checkpoint's directory. The first three arguments must outlive the stream.
  // Earlier versions stored chunks of several blocks with one checksum. The constructor reads and
  // verifies these chunks; Read reads them again. Throws TrainerError kBadCheckpoint.
  TensorStream(const std::string& directory, const std::string& name, const StoredTensor& tensor,
               int64_t kept_bytes = kKeptBytes);

  // Writes the next `elements` elements, in row-major order, to `out`. Throws TrainerError
  // kBadCheckpoint.
  void Read(int64_t elements, char* out);

 private:
  // The elements of one read that are in one chunk. `first` is the position in `out` of the first
  // element of the wanted box.
  struct Part {
    WantedPart wanted;
    int64_t first = 0;
  };
  using Block = std::pair<size_t, int64_t>;  // Chunk index and block number.
  using Bytes = std::unique_ptr<char[]>;
  struct BlockTask {
    Block block;
    std::vector<Part> parts;
    Bytes* kept = nullptr;  // Entry in kept_. *kept is null until the block is read.
  };

  std::vector<BlockTask> TasksFor(int64_t elements);
  void Run(const BlockTask& task, int64_t end, char* out);
  // Returns the bytes [begin, end) of the block within its chunk.
  std::pair<int64_t, int64_t> RangeOf(const Block& block) const;
  // Returns the number, within the tensor, of the block's last element.
  int64_t LastElementOf(const Block& block) const;

  const std::string& directory_;
  const std::string& name_;
  const StoredTensor& tensor_;
  const int64_t element_bytes_;
  const int64_t most_kept_bytes_;
  int64_t next_ = 0;  // First element that the next call of Read returns.
  std::map<Block, Bytes> kept_;
  std::atomic<int64_t> kept_bytes_ = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_TENSOR_STREAM_H_
