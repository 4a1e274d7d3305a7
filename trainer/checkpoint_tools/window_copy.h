// Fills safetensors files with tensors, a part at a time: memory does not grow with the tensors.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_WINDOW_COPY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_WINDOW_COPY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/rank_file.h"
#include "trainer/checkpoint_tools/tensor_stream.h"

namespace trainyard::trainer {

// Bytes that are written at once while the next ones are read. Whole blocks, as RankFileWriter
// wants them.
inline constexpr int64_t kWindowBytes = 16 * kBlockBytes;

struct PlannedFile {
  std::string name;  // inside the directory
  std::vector<PlannedChunk> chunks;
};

// The same plan with the names of a checkpoint's files.
std::vector<PlannedFile> NamedAsRanks(std::vector<std::vector<PlannedChunk>> plan);

// Writes the next `elements` elements of the chunk's tensor to `out`, of the chunk's dtype.
using ReadElements = std::function<void(const PlannedChunk& chunk, int64_t elements, char* out)>;

// Writes the planned files into the directory and makes them durable; returns their entries. `read`
// is called with the chunks in the plan's order, on another thread than the one that writes:
// the chunks of a tensor follow each other there in the order of its elements. `after_window` is
// called after each window and may throw to end the copy. Memory: 2 * kWindowBytes. Throws
// TrainerError kCannotWrite, and what the two functions throw.
Entries CopyWindows(const std::vector<PlannedFile>& plan, const std::string& directory,
                    const ReadElements& read, const std::function<void()>& after_window);

// Reads the tensors of a checkpoint one after the other, each from its first element, in the stored
// dtype. Every block is compared with its checksum.
class CheckpointElements {
 public:
  explicit CheckpointElements(const CheckpointReader& from) : from_(from) {}

  // The next elements of the tensor. Throws TrainerError kBadCheckpoint.
  void Read(const std::string& tensor, int64_t elements, char* out);

 private:
  const CheckpointReader& from_;
  std::string name_;
  std::optional<TensorStream> stream_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_WINDOW_COPY_H_
