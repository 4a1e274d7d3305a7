// Fills safetensors files with tensors in windows, so that memory use does not depend on their
// size.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_WINDOW_COPY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_WINDOW_COPY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/rank_file.h"
#include "trainer/checkpoint_tools/files/tensor_stream.h"

namespace trainyard::trainer {

// Bytes written at once while the next ones are read. Whole blocks, as required by RankFileWriter.
inline constexpr int64_t kWindowBytes = 16 * kBlockBytes;

struct PlannedFile {
  std::string name;  // Name in the directory.
  std::vector<PlannedChunk> chunks;
};

// Adds the file names of a checkpoint to the plan.
std::vector<PlannedFile> NamedAsRanks(std::vector<std::vector<PlannedChunk>> plan);

// Writes the next `elements` elements of the chunk's tensor to `out`, in the chunk's dtype.
using ReadElements = std::function<void(const PlannedChunk& chunk, int64_t elements, char* out)>;

// Writes the planned files into the directory durably and returns their entries. Calls `read` with
// the chunks in the plan's order, on another thread than the writing one; the chunks of a tensor
// follow in the order of its elements. Calls `after_window` after each window; it may throw to end
// the copy. Memory: 2 * kWindowBytes. Throws TrainerError kCannotWrite, and what the two functions
// throw.
Entries CopyWindows(const std::vector<PlannedFile>& plan, const std::string& directory,
                    const ReadElements& read, const std::function<void()>& after_window);

// Reads the tensors of a checkpoint one after another, each from its first element, in the stored
// dtype. Verifies the checksum of every block.
class CheckpointElements {
 public:
  explicit CheckpointElements(const CheckpointReader& from) : from_(from) {}

  // Reads the next elements of the tensor. Throws TrainerError kBadCheckpoint.
  void Read(const std::string& tensor, int64_t elements, char* out);

 private:
  const CheckpointReader& from_;
  std::string name_;
  std::optional<TensorStream> stream_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_WINDOW_COPY_H_
