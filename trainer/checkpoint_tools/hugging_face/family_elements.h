// Reads a model from a Trainyard checkpoint as Hugging Face tensors.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_FAMILY_ELEMENTS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_FAMILY_ELEMENTS_H_

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/checkpoint/rank_file.h"
#include "trainer/checkpoint_tools/families/family_tensor.h"
#include "trainer/checkpoint_tools/files/tensor_stream.h"
#include "trainer/checkpoint_tools/hugging_face/ordered_stream.h"

namespace trainyard::trainer {

// Reads Hugging Face tensors one after another, each from its first element on, in the planned
// types. Verifies the checksum of every block. A transposed tensor is read completely in each call,
// because each of its rows contains an element of every stored row. Memory:
// TensorStream::kKeptBytes plus twice the bytes of a call. Not thread-safe.
class FamilyElements {
 public:
  // The checkpoint must contain all parts of `tensors`. Both arguments must outlive this object.
  FamilyElements(const CheckpointReader& from, const std::vector<FamilyTensor>& tensors);

  // Returns the stored type of a tensor. If its parts have several types, returns a type that can
  // represent all of them.
  torch::ScalarType TypeOf(const std::string& name) const;

  // Writes the next elements of the chunk's tensor to `out`, in the chunk's type. Throws
  // TrainerError kBadCheckpoint.
  void Read(const PlannedChunk& chunk, int64_t elements, char* out);

 private:
  const StoredTensor& Stored(const TensorShape& part) const;
  std::unique_ptr<TensorStream> NewStream(const TensorShape& part, int64_t kept_bytes) const;
  std::unique_ptr<OrderedStream> NewOrderedStream(const FamilyTensor& tensor, size_t part) const;
  void ReadRows(const FamilyTensor& tensor, const torch::Tensor& target);
  void ReadColumns(const FamilyTensor& tensor, const torch::Tensor& target) const;

  const CheckpointReader& from_;
  std::map<std::string, const FamilyTensor*> tensors_;   // By Hugging Face name.
  std::string name_;                                     // Name of the tensor that was read last.
  int64_t next_ = 0;                                     // Its next element.
  std::vector<std::unique_ptr<OrderedStream>> streams_;  // By part.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_FAMILY_ELEMENTS_H_
