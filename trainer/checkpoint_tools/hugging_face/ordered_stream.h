// Reads a stored matrix with its rows in the order of Hugging Face.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_ORDERED_STREAM_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_ORDERED_STREAM_H_

#include <cstdint>
#include <memory>
#include <string>

#include "trainer/checkpoint_tools/families/family_tensor.h"
#include "trainer/checkpoint_tools/files/tensor_stream.h"

namespace trainyard::trainer {

// Passes on the elements of a stream. If the matrix has rotated rows, it reads those of a head at
// once and orders them, so that it needs memory for as many rows. Not thread-safe.
class OrderedStream {
 public:
  // `row_bytes` is the size of a row of the matrix; it is not used without rotated rows.
  OrderedStream(std::unique_ptr<TensorStream> stream, const RotaryRows& rotary, int64_t row_bytes,
                int64_t element_bytes)
      : stream_(std::move(stream)),
        rotary_(rotary),
        row_bytes_(row_bytes),
        element_bytes_(element_bytes) {}

  // Writes the next elements of the matrix to `out`. Throws TrainerError kBadCheckpoint.
  void Read(int64_t elements, char* out);

 private:
  // Reads the rotated rows that begin at row `first`.
  void ReadRotated(int64_t first);

  const std::unique_ptr<TensorStream> stream_;
  const RotaryRows rotary_;
  const int64_t row_bytes_;
  const int64_t element_bytes_;
  int64_t next_ = 0;     // Next byte of the matrix.
  std::string rotated_;  // The rotated rows of the current head, in the order of Hugging Face.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_ORDERED_STREAM_H_
