// Maps each Hugging Face tensor to its parts, which are Trainyard tensors. Pure functions.
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

// A Hugging Face tensor, whose rows come from its parts: `rows_at_once` rows of the first part, the
// same number of rows of the second part and so on, then the next rows of the first part. If it is
// transposed, it is a matrix whose columns are the rows of its parts; the columns from one part are
// adjacent.
struct FamilyTensor {
  TensorShape on_hugging_face;
  std::vector<TensorShape> parts;  // All parts have the same shape.
  int64_t rows_at_once = 0;
  bool is_transposed = false;
};

// Returns a tensor that has the same name and shape on Hugging Face and in Trainyard.
FamilyTensor SameTensor(const std::string& name, const Extents& shape);

// Returns a tensor that has one part, `ours`.
FamilyTensor RenamedTensor(const std::string& name, const TensorShape& ours);

// Returns a matrix that Hugging Face stores as [in, out]. `parts` are matrices [out, in];
// transposed, they are placed side by side.
FamilyTensor TransposedTensor(const std::string& name, const std::vector<TensorShape>& parts);

// Returns a tensor that interleaves its parts, `rows_at_once` rows at a time. That is all rows of a
// part, or the rows of one head.
FamilyTensor FusedTensor(const std::string& name, const std::vector<TensorShape>& parts,
                         int64_t rows_at_once);

// Return the names and shapes of the tensors: HuggingFaceShapes those on Hugging Face, OurShapes
// those in Trainyard. The order is that of `tensors`.
std::vector<TensorShape> HuggingFaceShapes(const std::vector<FamilyTensor>& tensors);
std::vector<TensorShape> OurShapes(const std::vector<FamilyTensor>& tensors);

// A run of elements that is contiguous both in a part and in the fused tensor.
struct PartRun {
  size_t part = 0;
  int64_t of_part = 0;   // First element of the run, numbered within the part.
  int64_t of_whole = 0;  // The same element, numbered within the fused tensor.
  int64_t elements = 0;
};

// RunAt returns the run that starts at an element of the fused tensor, RunOfPartAt the run that
// starts at an element of a part. The run ends with the last of the consecutive rows. Not for
// transposed tensors.
PartRun RunAt(const FamilyTensor& tensor, int64_t of_whole);
PartRun RunOfPartAt(const FamilyTensor& tensor, size_t part, int64_t of_part);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_FAMILY_TENSOR_H_
