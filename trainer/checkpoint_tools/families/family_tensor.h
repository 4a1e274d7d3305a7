// Maps Hugging Face tensors to parts, which are Trainyard tensors. Pure functions.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_FAMILY_TENSOR_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_FAMILY_TENSOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/checkpoint/box.h"

namespace trainyard::trainer {

struct TensorShape {
  std::string name;
  Extents shape;
};

// A Hugging Face tensor. Its rows come from its parts: `rows_at_once` rows of the first part, as
// many of the second and so on, then the next rows of the first. A transposed one is a matrix whose
// columns are the rows of its parts, with all columns of a part adjacent.
struct FamilyTensor {
  TensorShape on_hugging_face;
  std::vector<TensorShape> parts;  // All of equal shape.
  int64_t rows_at_once = 0;
  bool is_transposed = false;
};

// A tensor with the same name and shape in both.
FamilyTensor SameTensor(const std::string& name, const Extents& shape);

// A tensor with one part, `ours`.
FamilyTensor RenamedTensor(const std::string& name, const TensorShape& ours);

// A matrix stored by Hugging Face as [in, out]. parts: matrices [out, in], placed side by side.
FamilyTensor TransposedTensor(const std::string& name, const std::vector<TensorShape>& parts);

// Interleaves parts, `rows_at_once` rows at a time: all rows of a part, or those of a head.
FamilyTensor FusedTensor(const std::string& name, const std::vector<TensorShape>& parts,
                         int64_t rows_at_once);

// Names and shapes of the tensors on Hugging Face and in Trainyard, in the order of `tensors`.
std::vector<TensorShape> HuggingFaceShapes(const std::vector<FamilyTensor>& tensors);
std::vector<TensorShape> OurShapes(const std::vector<FamilyTensor>& tensors);

// Elements of a part that are also contiguous in the fused tensor.
struct PartRun {
  size_t part = 0;
  int64_t of_part = 0;   // First element within the part.
  int64_t of_whole = 0;  // Same element within the fused tensor.
  int64_t elements = 0;
};

// The run that starts at an element of the fused tensor, or of a part, up to the end of its
// consecutive rows. Not for transposed tensors.
PartRun RunAt(const FamilyTensor& tensor, int64_t of_whole);
PartRun RunOfPartAt(const FamilyTensor& tensor, size_t part, int64_t of_part);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_FAMILY_TENSOR_H_
