// Fills safetensors files with tensors, window by window, so that memory use does not depend on the
// size of the tensors.
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

// The number of bytes that are written at once while the next bytes are read. A whole number of
// blocks, as RankFileWriter requires.
inline constexpr int64_t kWindowBytes = 16 * kBlockBytes;

struct PlannedFile {
  std::string name;  // Name of the file in the directory.
  std::vector<PlannedChunk> chunks;
};

// Gives the files of the plan the names that the files of ranks have in a checkpoint.
std::vector<PlannedFile> NamedAsRanks(std::vector<std::vector<PlannedChunk>> plan);

// Writes the next `elements` elements of the chunk's tensor to `out`, in the chunk's dtype.
using ReadElements = std::function<void(const PlannedChunk& chunk, int64_t elements, char* out)>;

// Durably writes the planned files into the directory and returns their entries. Calls `read` for
// the chunks in the order of the plan, on a different thread than the one that writes. The plan
// must contain the chunks of each tensor in the order of the tensor's elements. Calls
// `after_window` after each window; an exception from it ends the copy. Uses 2 * kWindowBytes of
// memory. Throws TrainerError kCannotWrite, and any exception of `read` and `after_window`.
Entries CopyWindows(const std::vector<PlannedFile>& plan, const std::string& directory,
                    const ReadElements& read, const std::function<void()>& after_window);

// Reads the tensors of a checkpoint one after another, each from its first element on, in the
// stored dtype. Verifies the checksum of every block.
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
