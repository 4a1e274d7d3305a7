#include "trainer/checkpoint_tools/hugging_face/family_elements.h"

#include <c10/core/ScalarType.h>
#include <torch/utils.h>

#include <algorithm>
#include <cstring>

#include "trainer/checkpoint/manifest.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Returns the number of rows that are read at once from a tensor that must be transposed. Each row
// has `width` elements.
int64_t RowsAtOnce(int64_t width, torch::ScalarType type) {
  constexpr int64_t kBytes = int64_t{16} << 20;
  const auto row_bytes = width * static_cast<int64_t>(c10::elementSize(type));
  return std::max<int64_t>(1, kBytes / row_bytes);
}

// Returns the next `elements` elements of the stream, in the stored type.
template <typename Stream>
Tensor Next(Stream& stream, torch::ScalarType stored, int64_t elements) {
  const Tensor values = torch::empty({elements}, stored);
  stream.Read(elements, static_cast<char*>(values.data_ptr()));
  return values;
}

}  // namespace

FamilyElements::FamilyElements(const CheckpointReader& from,
                               const std::vector<FamilyTensor>& tensors)
    : from_(from) {
  for (const FamilyTensor& tensor : tensors) tensors_[tensor.on_hugging_face.name] = &tensor;
}

torch::ScalarType FamilyElements::TypeOf(const std::string& name) const {
  const std::vector<TensorShape>& parts = tensors_.at(name)->parts;
  torch::ScalarType type = Stored(parts[0]).dtype;
  for (const TensorShape& part : parts) type = c10::promoteTypes(type, Stored(part).dtype);
  return type;
}

const StoredTensor& FamilyElements::Stored(const TensorShape& part) const {
  return from_.manifest().entries.tensors.at(part.name);
}

std::unique_ptr<TensorStream> FamilyElements::NewStream(const TensorShape& part,
                                                        int64_t kept_bytes) const {
  return std::make_unique<TensorStream>(from_.directory(), part.name, Stored(part), kept_bytes);
}

std::unique_ptr<OrderedStream> FamilyElements::NewOrderedStream(const FamilyTensor& tensor,
                                                                size_t part) const {
  const TensorShape& shape = tensor.parts[part];
  const auto parts = static_cast<int64_t>(tensor.parts.size());
  const auto width = static_cast<int64_t>(c10::elementSize(Stored(shape).dtype));
  return std::make_unique<OrderedStream>(NewStream(shape, TensorStream::kKeptBytes / parts),
                                         tensor.rotary,
                                         *ElementsOf(shape.shape) / shape.shape[0] * width, width);
}

void FamilyElements::Read(const PlannedChunk& chunk, int64_t elements, char* out) {
  const torch::NoGradGuard no_grad;  // Set here because the mode is per thread.
  const FamilyTensor& tensor = *tensors_.at(chunk.name);
  if (chunk.name != name_) {
    name_ = chunk.name;
    next_ = 0;
    streams_.clear();
  }
  const Tensor target = torch::from_blob(out, {elements}, chunk.dtype);
  if (tensor.is_transposed) {
    ReadColumns(tensor, target);
  } else {
    ReadRows(tensor, target);
  }
  next_ += elements;
}

void FamilyElements::ReadRows(const FamilyTensor& tensor, const Tensor& target) {
  for (size_t i = streams_.size(); i < tensor.parts.size(); ++i) {
    streams_.push_back(NewOrderedStream(tensor, i));
  }
  for (int64_t done = 0; done < target.size(0);) {
    const PartRun run = RunAt(tensor, next_ + done);
    const int64_t taken = std::min(run.elements, target.size(0) - done);
    const Tensor values = target.narrow(0, done, taken);
    const torch::ScalarType stored = Stored(tensor.parts[run.part]).dtype;
    if (stored == target.scalar_type()) {
      streams_[run.part]->Read(taken, static_cast<char*>(values.data_ptr()));
    } else {
      values.copy_(Next(*streams_[run.part], stored, taken));
    }
    done += taken;
  }
}

// Each row of the target consists of one column of each part.
void FamilyElements::ReadColumns(const FamilyTensor& tensor, const Tensor& target) const {
  const int64_t width = tensor.on_hugging_face.shape[1];
  const int64_t first = next_ / width, end = (next_ + target.size(0) - 1) / width + 1;
  const Tensor rows = torch::empty({end - first, width}, target.options());
  int64_t column = 0;
  for (const TensorShape& part : tensor.parts) {
    const torch::ScalarType stored = Stored(part).dtype;
    const int64_t at_once = RowsAtOnce(part.shape[1], stored);
    const auto stream = NewStream(part, TensorStream::kKeptBytes);
    for (int64_t row = 0; row < part.shape[0]; row += at_once) {
      const int64_t taken = std::min(at_once, part.shape[0] - row);
      const Tensor piece = Next(*stream, stored, taken * part.shape[1]).view({taken, -1});
      rows.narrow(1, column, taken).copy_(piece.narrow(1, first, end - first).t());
      column += taken;
    }
  }
  target.copy_(rows.flatten().narrow(0, next_ - first * width, target.size(0)));
}

}  // namespace trainyard::trainer
