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

// The rows of a matrix that produce rotated elements of heads: `count` rows from row `first` of
// every `head` rows. Hugging Face stores the two rows of a rotated pair one after the other
// (DeepSeek). Trainyard stores the first rows of all pairs, then the second rows. If `count` is 0,
// the matrix has no rotated rows.
struct RotaryRows {
  int64_t head = 0;
  int64_t first = 0;
  int64_t count = 0;  // Even.
};

// A Hugging Face tensor and its parts, which are Trainyard tensors. The rows of the tensor come
// from the parts in turn: `rows_at_once` rows of the first part, the same number of rows of the
// second part and so on, then the next rows of the first part. If `is_transposed`, the columns of
// the tensor are the rows of the parts, and all columns from one part are adjacent.
struct FamilyTensor {
  TensorShape on_hugging_face;
  std::vector<TensorShape> parts;  // All parts have the same shape.
  int64_t rows_at_once = 0;
  bool is_transposed = false;
  RotaryRows rotary = {};   // Only for a matrix with a single part.
  bool keeps_type = false;  // An export in another type does not convert this tensor.
};

// Returns a tensor that has the same name and shape on Hugging Face and in Trainyard.
FamilyTensor SameTensor(const std::string& name, const Extents& shape);

// Returns a tensor that has one part, `ours`.
FamilyTensor RenamedTensor(const std::string& name, const TensorShape& ours);

// Returns a matrix with rotated elements. Name and shape are the same on Hugging Face.
FamilyTensor RotaryTensor(const std::string& name, const Extents& shape, const RotaryRows& rotary);

// Returns a matrix that Hugging Face stores as [in, out]. `parts` are matrices [out, in]; their
// transposes are placed side by side.
FamilyTensor TransposedTensor(const std::string& name, const std::vector<TensorShape>& parts);

// Returns a tensor that interleaves its parts, `rows_at_once` rows at a time. `rows_at_once` is the
// number of rows of a whole part or of one attention head.
FamilyTensor FusedTensor(const std::string& name, const std::vector<TensorShape>& parts,
                         int64_t rows_at_once);

// HuggingFaceShapes returns the Hugging Face names and shapes of the tensors. OurShapes returns the
// Trainyard names and shapes of the parts. Both functions keep the order of `tensors`.
std::vector<TensorShape> HuggingFaceShapes(const std::vector<FamilyTensor>& tensors);
std::vector<TensorShape> OurShapes(const std::vector<FamilyTensor>& tensors);

// A run of elements that is contiguous both in a part and in the fused tensor.
struct PartRun {
  size_t part = 0;
  int64_t of_part = 0;   // First element of the run, numbered within the part.
  int64_t of_whole = 0;  // The same element, numbered within the fused tensor.
  int64_t elements = 0;
};

// Returns the index, in the Hugging Face matrix, of row `our_row` of the Trainyard matrix.
int64_t TheirRow(const RotaryRows& rotary, int64_t our_row);

// RunAt returns the run that starts at an element of the fused tensor; RunOfPartAt returns the run
// that starts at an element of a part. The run ends before the next rows of another part. Neither
// supports transposed tensors. RunAt ignores RotaryRows, because an export orders the rows of its
// streams (hugging_face/ordered_stream.h).
PartRun RunAt(const FamilyTensor& tensor, int64_t of_whole);
PartRun RunOfPartAt(const FamilyTensor& tensor, size_t part, int64_t of_part);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_FAMILY_TENSOR_H_
