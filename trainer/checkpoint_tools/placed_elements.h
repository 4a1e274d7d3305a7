// Reads tensors of ours out of the files of a Hugging Face directory.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_PLACED_ELEMENTS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_PLACED_ELEMENTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint_tools/family_tensor.h"
#include "trainer/checkpoint_tools/safetensors_directory.h"
#include "trainer/checkpoint_tools/weights_file.h"

namespace trainyard::trainer {

// Gives out tensors of ours one after the other, each from its first element. Memory: of a part of
// a transposed tensor twice the bytes of a call; else none. One thread at a time.
class PlacedElements {
 public:
  // tensors: each is in `placed` with its shape. Both must outlive this.
  PlacedElements(const std::vector<FamilyTensor>& tensors, const PlacedTensors& placed);

  // Types and shapes of ours, without chunks.
  std::map<std::string, StoredTensor> tensors() const;

  // The next elements of the tensor, in its type. Throws TrainerError kBadCheckpoint.
  void Read(const std::string& name, int64_t elements, char* out);

 private:
  struct Part {
    const FamilyTensor* tensor = nullptr;
    size_t index = 0;  // Of the part.
    const PlacedTensor* placed = nullptr;
  };

  void ReadRows(const Part& part, int64_t elements, char* out);
  void ReadColumns(const Part& part, int64_t elements, char* out);
  void ReadFile(const Part& part, int64_t first, int64_t elements, char* out);

  std::map<std::string, Part> parts_;  // By our name.
  std::string name_;                   // Of the tensor that was read last.
  int64_t next_ = 0;                   // Its next element.
  std::unique_ptr<WeightsFile> file_;  // That was read last.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_PLACED_ELEMENTS_H_
