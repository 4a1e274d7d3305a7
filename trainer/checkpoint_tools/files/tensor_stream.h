// Reads one tensor of a checkpoint from its first to its last element, regardless of its boxes.
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

// Each box stores its elements in the row-major order of the tensor. Each block is therefore read
// once, verified, and kept until its last element has been returned. Memory: `kept_bytes` of such
// blocks, plus one block per thread (kThreads). If a tensor is split into so many columns that one
// block of each does not fit, some blocks are read again.
class TensorStream {
 public:
  static constexpr int64_t kKeptBytes = int64_t{256} << 20;
  static constexpr int64_t kThreads = 8;

  // directory: the checkpoint. The first three arguments must outlive the stream. Chunks of several
  // blocks with one checksum, from earlier versions, are read and verified here, and later read
  // again. Throws TrainerError kBadCheckpoint.
  TensorStream(const std::string& directory, const std::string& name, const StoredTensor& tensor,
               int64_t kept_bytes = kKeptBytes);

  // Writes the next `elements` elements in row-major order to `out`. Throws TrainerError
  // kBadCheckpoint.
  void Read(int64_t elements, char* out);

 private:
  // The part of one read inside one chunk. first: position in `out` of the first element of the
  // part's wanted box.
  struct Part {
    WantedPart wanted;
    int64_t first = 0;
  };
  using Block = std::pair<size_t, int64_t>;  // Chunk index and block number.
  using Bytes = std::unique_ptr<char[]>;
  struct BlockTask {
    Block block;
    std::vector<Part> parts;
    Bytes* kept = nullptr;  // Its entry in kept_, which is null until the block is read.
  };

  std::vector<BlockTask> TasksFor(int64_t elements);
  void Run(const BlockTask& task, int64_t end, char* out);
  // Bytes [begin, end) of the block within its chunk.
  std::pair<int64_t, int64_t> RangeOf(const Block& block) const;
  // Number in the tensor of the block's last element.
  int64_t LastElementOf(const Block& block) const;

  const std::string& directory_;
  const std::string& name_;
  const StoredTensor& tensor_;
  const int64_t element_bytes_;
  const int64_t most_kept_bytes_;
  int64_t next_ = 0;  // First element of the next read.
  std::map<Block, Bytes> kept_;
  std::atomic<int64_t> kept_bytes_ = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_TENSOR_STREAM_H_
