// Reads one tensor of a checkpoint from its first element to its last, whatever boxes hold it.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_TENSOR_STREAM_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_TENSOR_STREAM_H_

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

// Row-major order of the tensor is also the order of each of its boxes. So each block is read once,
// checked, and kept until its last element has been given out. Memory: `kept_bytes` of such blocks,
// and one block for each of kThreads. A tensor that is cut into so many columns that this does not
// hold a block of each has some blocks read again.
class TensorStream {
 public:
  static constexpr int64_t kKeptBytes = int64_t{256} << 20;
  static constexpr int64_t kThreads = 8;

  // directory: of the checkpoint. All three must outlive the stream. Chunks of several blocks with
  // one checksum, as earlier versions wrote them, are read and checked here, and later read again.
  // Throws TrainerError kBadCheckpoint.
  TensorStream(const std::string& directory, const std::string& name, const StoredTensor& tensor,
               int64_t kept_bytes = kKeptBytes);

  // Writes the next `elements` elements in row-major order to `out`. Throws TrainerError
  // kBadCheckpoint.
  void Read(int64_t elements, char* out);

 private:
  // A part of one read that lies in one chunk. `first`: number in `out` of the first element of the
  // part's wanted box.
  struct Part {
    WantedPart wanted;
    int64_t first = 0;
  };
  using Block = std::pair<size_t, int64_t>;  // Index of the chunk, number of its block.
  using Bytes = std::unique_ptr<char[]>;
  struct BlockTask {
    Block block;
    std::vector<Part> parts;
    Bytes* kept = nullptr;  // Bytes of the block; null pointer inside before they are read.
  };

  std::vector<BlockTask> TasksFor(int64_t elements);
  void Run(const BlockTask& task, int64_t end, char* out);
  // Bytes [begin, end) of the chunk that the block is.
  std::pair<int64_t, int64_t> RangeOf(const Block& block) const;
  // Number of the block's last element in the tensor.
  int64_t LastElementOf(const Block& block) const;

  const std::string& directory_;
  const std::string& name_;
  const StoredTensor& tensor_;
  const int64_t element_bytes_;
  const int64_t most_kept_bytes_;
  int64_t next_ = 0;  // Element that the next read begins with.
  std::map<Block, Bytes> kept_;
  std::atomic<int64_t> kept_bytes_ = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_TENSOR_STREAM_H_
