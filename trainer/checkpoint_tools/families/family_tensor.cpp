#include "trainer/checkpoint_tools/families/family_tensor.h"

namespace trainyard::trainer {
namespace {

int64_t RowsOf(const TensorShape& tensor) { return tensor.shape[0]; }

int64_t WidthOf(const TensorShape& tensor) { return *ElementsOf(tensor.shape) / RowsOf(tensor); }

// Returns the number of consecutive elements that are taken from each part in turn.
int64_t ElementsAtOnce(const FamilyTensor& tensor) {
  return tensor.rows_at_once * WidthOf(tensor.parts[0]);
}

// Returns the rest of the row that contains the element of the part.
PartRun RowOfPartAt(const FamilyTensor& tensor, int64_t of_part) {
  const int64_t width = WidthOf(tensor.parts[0]), done = of_part % width;
  const int64_t their_row = TheirRow(tensor.rotary, of_part / width);
  return {0, of_part, their_row * width + done, width - done};
}

}  // namespace

FamilyTensor SameTensor(const std::string& name, const Extents& shape) {
  return RenamedTensor(name, {name, shape});
}

FamilyTensor RenamedTensor(const std::string& name, const TensorShape& ours) {
  return FusedTensor(name, {ours}, RowsOf(ours));
}

FamilyTensor RotaryTensor(const std::string& name, const Extents& shape, const RotaryRows& rotary) {
  FamilyTensor tensor = SameTensor(name, shape);
  tensor.rotary = rotary;
  return tensor;
}

int64_t TheirRow(const RotaryRows& rotary, int64_t our_row) {
  const int64_t of_head = our_row % rotary.head, index = of_head - rotary.first;
  if (index < 0 || index >= rotary.count) return our_row;
  const int64_t pairs = rotary.count / 2;
  return our_row - index + 2 * (index % pairs) + index / pairs;
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
  if (tensor.rotary.count > 0) return RowOfPartAt(tensor, of_part);
  const int64_t at_once = ElementsAtOnce(tensor);
  const auto parts = static_cast<int64_t>(tensor.parts.size());
  const int64_t turn = of_part / at_once * parts + static_cast<int64_t>(part);
  const int64_t done = of_part % at_once;
  return {part, of_part, turn * at_once + done, at_once - done};
}

}  // namespace trainyard::trainer
