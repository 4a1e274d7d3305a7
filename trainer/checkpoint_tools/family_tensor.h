// Tensors of Hugging Face as parts that are tensors of ours. Pure.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILY_TENSOR_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILY_TENSOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/checkpoint/box.h"

namespace trainyard::trainer {

struct TensorShape {
  std::string name;
  Extents shape;
};

// A tensor of Hugging Face. Its rows are those of its parts: `rows_at_once` of the first, as many
// of the second and so on, then the next ones of the first. A transposed one is a matrix that has
// its parts' rows as columns, all of a part side by side.
struct FamilyTensor {
  TensorShape on_hugging_face;
  std::vector<TensorShape> parts;  // All of the same shape.
  int64_t rows_at_once = 0;
  bool is_transposed = false;
};

// The same name and shape here and there.
FamilyTensor SameTensor(const std::string& name, const Extents& shape);

// ours: of one part.
FamilyTensor RenamedTensor(const std::string& name, const TensorShape& ours);

// A matrix that Hugging Face has as [in, out]. parts: side by side; of matrices [out, in].
FamilyTensor TransposedTensor(const std::string& name, const std::vector<TensorShape>& parts);

// Parts one after the other, `rows_at_once` rows in turn: all rows of a part, or those of a head.
FamilyTensor FusedTensor(const std::string& name, const std::vector<TensorShape>& parts,
                         int64_t rows_at_once);

// Names and shapes of both sides, in the order of the tensors.
std::vector<TensorShape> HuggingFaceShapes(const std::vector<FamilyTensor>& tensors);
std::vector<TensorShape> OurShapes(const std::vector<FamilyTensor>& tensors);

// Elements of a part that lie one after the other in the fused tensor, too.
struct PartRun {
  size_t part = 0;
  int64_t of_part = 0;   // First element of the part.
  int64_t of_whole = 0;  // The same element of the fused tensor.
  int64_t elements = 0;
};

// The run that begins with an element of the fused tensor or of a part, up to the end of the rows
// that follow each other. Not for transposed tensors.
PartRun RunAt(const FamilyTensor& tensor, int64_t of_whole);
PartRun RunOfPartAt(const FamilyTensor& tensor, size_t part, int64_t of_part);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILY_TENSOR_H_
