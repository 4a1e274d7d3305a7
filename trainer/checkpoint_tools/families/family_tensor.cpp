#include "trainer/checkpoint_tools/families/family_tensor.h"

namespace trainyard::trainer {
namespace {

int64_t RowsOf(const TensorShape& tensor) { return tensor.shape[0]; }

// Returns the number of consecutive elements that are taken from each part in turn.
int64_t ElementsAtOnce(const FamilyTensor& tensor) {
  const TensorShape& part = tensor.parts[0];
  return tensor.rows_at_once * (*ElementsOf(part.shape) / RowsOf(part));
}

}  // namespace

FamilyTensor SameTensor(const std::string& name, const Extents& shape) {
  return RenamedTensor(name, {name, shape});
}

FamilyTensor RenamedTensor(const std::string& name, const TensorShape& ours) {
  return FusedTensor(name, {ours}, RowsOf(ours));
}

FamilyTensor TransposedTensor(const std::string& name, const std::vector<TensorShape>& parts) {
  const int64_t rows = RowsOf(parts[0]);
  const Extents shape = {parts[0].shape[1], rows * static_cast<int64_t>(parts.size())};
  return {{name, shape}, parts, rows, true};
}

FamilyTensor FusedTensor(const std::string& name, const std::vector<TensorShape>& parts,
                         int64_t rows_at_once) {
  Extents shape = parts[0].shape;
  shape[0] *= static_cast<int64_t>(parts.size());
  return {{name, shape}, parts, rows_at_once, false};
}

std::vector<TensorShape> HuggingFaceShapes(const std::vector<FamilyTensor>& tensors) {
  std::vector<TensorShape> shapes;
  for (const FamilyTensor& tensor : tensors) shapes.push_back(tensor.on_hugging_face);
  return shapes;
}

std::vector<TensorShape> OurShapes(const std::vector<FamilyTensor>& tensors) {
  std::vector<TensorShape> shapes;
  for (const FamilyTensor& tensor : tensors) {
    shapes.insert(shapes.end(), tensor.parts.begin(), tensor.parts.end());
  }
  return shapes;
}

PartRun RunAt(const FamilyTensor& tensor, int64_t of_whole) {
  const int64_t at_once = ElementsAtOnce(tensor);
  const auto parts = static_cast<int64_t>(tensor.parts.size());
  const int64_t turn = of_whole / at_once, done = of_whole % at_once;
  return {static_cast<size_t>(turn % parts), turn / parts * at_once + done, of_whole,
          at_once - done};
}

PartRun RunOfPartAt(const FamilyTensor& tensor, size_t part, int64_t of_part) {
  const int64_t at_once = ElementsAtOnce(tensor);
  const auto parts = static_cast<int64_t>(tensor.parts.size());
  const int64_t turn = of_part / at_once * parts + static_cast<int64_t>(part);
  const int64_t done = of_part % at_once;
  return {part, of_part, turn * at_once + done, at_once - done};
}

}  // namespace trainyard::trainer
