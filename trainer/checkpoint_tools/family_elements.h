// Reads tensors of Hugging Face out of a checkpoint of ours.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILY_ELEMENTS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILY_ELEMENTS_H_

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/checkpoint/rank_file.h"
#include "trainer/checkpoint_tools/family_tensor.h"
#include "trainer/checkpoint_tools/tensor_stream.h"

namespace trainyard::trainer {

// Gives out tensors one after the other, each from its first element, in the types of a plan. Every
// block is compared with its checksum. A transposed tensor is read as a whole for each call: a row
// of it has an element of every row of ours. Memory: TensorStream::kKeptBytes, and twice the bytes
// of a call. One thread at a time.
class FamilyElements {
 public:
  // tensors: all their parts are in the checkpoint. Both must outlive this.
  FamilyElements(const CheckpointReader& from, const std::vector<FamilyTensor>& tensors);

  // The type in which the checkpoint has a tensor; of parts of several types one that holds all.
  torch::ScalarType TypeOf(const std::string& name) const;

  // The next elements of the chunk's tensor, in the chunk's type. Throws TrainerError
  // kBadCheckpoint.
  void Read(const PlannedChunk& chunk, int64_t elements, char* out);

 private:
  const StoredTensor& Stored(const TensorShape& part) const;
  std::unique_ptr<TensorStream> NewStream(const TensorShape& part, int64_t kept_bytes) const;
  void ReadRows(const FamilyTensor& tensor, const torch::Tensor& target);
  void ReadColumns(const FamilyTensor& tensor, const torch::Tensor& target) const;

  const CheckpointReader& from_;
  std::map<std::string, const FamilyTensor*> tensors_;  // By the name on Hugging Face.
  std::string name_;                                    // Of the tensor that was read last.
  int64_t next_ = 0;                                    // Its next element.
  std::vector<std::unique_ptr<TensorStream>> streams_;  // By part.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILY_ELEMENTS_H_
