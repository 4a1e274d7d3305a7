// Reads Trainyard tensors from the files of a Hugging Face directory.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_PLACED_ELEMENTS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_PLACED_ELEMENTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint_tools/families/family_tensor.h"
#include "trainer/checkpoint_tools/hugging_face/safetensors_directory.h"
#include "trainer/checkpoint_tools/hugging_face/weights_file.h"

namespace trainyard::trainer {

// Reads Trainyard tensors one after another, each from its first element on. Needs memory only for
// transposed tensors: twice the bytes of a call. Not thread-safe.
class PlacedElements {
 public:
  // Each of `tensors` must be in `placed` with the same shape. Both arguments must outlive this
  // object.
  PlacedElements(const std::vector<FamilyTensor>& tensors, const PlacedTensors& placed);

  // Returns the types and shapes of the Trainyard tensors, without chunks.
  std::map<std::string, StoredTensor> tensors() const;

  // Writes the next elements of the tensor to `out`, in its type. Throws TrainerError
  // kBadCheckpoint.
  void Read(const std::string& name, int64_t elements, char* out);

 private:
  struct Part {
    const FamilyTensor* tensor = nullptr;
    size_t index = 0;  // Index of the part in its tensor.
    const PlacedTensor* placed = nullptr;
  };

  void ReadRows(const Part& part, int64_t elements, char* out);
  void ReadColumns(const Part& part, int64_t elements, char* out);
  void ReadFile(const Part& part, int64_t first, int64_t elements, char* out);
  // ReadFile for E4M3 elements with scales.
  void ReadScaled(const Part& part, int64_t first, int64_t elements, char* out);
  void Open(const std::string& path);

  std::map<std::string, Part> parts_;  // By Trainyard name.
  std::string name_;                   // Name of the tensor that was read last.
  int64_t next_ = 0;                   // Its next element.
  std::unique_ptr<WeightsFile> file_;  // File that was read last.
  std::string scaled_;                 // Hugging Face name of the tensor to which scales_ belong.
  std::vector<float> scales_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_PLACED_ELEMENTS_H_
