#include "trainer/checkpoint_tools/hugging_face/placed_elements.h"

#include <c10/core/ScalarType.h>
#include <torch/utils.h>

#include <algorithm>
#include <cstring>

#include "trainer/checkpoint_tools/hugging_face/block_scales.h"

namespace trainyard::trainer {
namespace {

int64_t WidthOf(const PlacedTensor& tensor) {
  return static_cast<int64_t>(c10::elementSize(tensor.dtype));
}

}  // namespace

PlacedElements::PlacedElements(const std::vector<FamilyTensor>& tensors,
                               const PlacedTensors& placed) {
  for (const FamilyTensor& tensor : tensors) {
    for (size_t i = 0; i < tensor.parts.size(); ++i) {
      parts_[tensor.parts[i].name] = {&tensor, i, &placed.at(tensor.on_hugging_face.name)};
    }
  }
}

std::map<std::string, StoredTensor> PlacedElements::tensors() const {
  std::map<std::string, StoredTensor> tensors;
  for (const auto& [name, part] : parts_) {
    tensors[name] = {part.placed->dtype, part.tensor->parts[part.index].shape, {}};
  }
  return tensors;
}

void PlacedElements::Read(const std::string& name, int64_t elements, char* out) {
  const Part& part = parts_.at(name);
  if (name != name_) next_ = 0;
  name_ = name;
  if (part.tensor->is_transposed) {
    ReadColumns(part, elements, out);
  } else {
    ReadRows(part, elements, out);
  }
  next_ += elements;
}

void PlacedElements::ReadRows(const Part& part, int64_t elements, char* out) {
  for (int64_t done = 0; done < elements;) {
    const PartRun run = RunOfPartAt(*part.tensor, part.index, next_ + done);
    const int64_t taken = std::min(run.elements, elements - done);
    ReadFile(part, run.of_whole, taken, out + done * WidthOf(*part.placed));
    done += taken;
  }
}

// Rows of the Trainyard tensor are columns of the file's tensor.
void PlacedElements::ReadColumns(const Part& part, int64_t elements, char* out) {
  const torch::NoGradGuard no_grad;  // Set here because the mode is per thread.
  const Extents& shape = part.tensor->parts[part.index].shape;
  const int64_t first = next_ / shape[1], end = (next_ + elements - 1) / shape[1] + 1;
  const int64_t width = WidthOf(*part.placed);
  const torch::Tensor columns = torch::empty({shape[1], end - first}, part.placed->dtype);
  for (int64_t i = 0; i < shape[1]; ++i) {
    const int64_t row = i * part.tensor->on_hugging_face.shape[1];
    ReadFile(part, row + static_cast<int64_t>(part.index) * shape[0] + first, end - first,
             static_cast<char*>(columns.data_ptr()) + i * (end - first) * width);
  }
  const torch::Tensor rows = columns.t().contiguous();
  std::memcpy(out, static_cast<char*>(rows.data_ptr()) + (next_ - first * shape[1]) * width,
              static_cast<size_t>(elements * width));
}

// Reads elements [first, first + elements) of the Hugging Face tensor.
void PlacedElements::ReadFile(const Part& part, int64_t first, int64_t elements, char* out) {
  const PlacedTensor& placed = *part.placed;
  if (placed.scales != nullptr) return ReadScaled(part, first, elements, out);
  Open(placed.path);
  const int64_t begin = placed.begin + first * WidthOf(placed);
  file_->Read(begin, begin + elements * WidthOf(placed),
              "tensor " + part.tensor->on_hugging_face.name, out);
}

void PlacedElements::ReadScaled(const Part& part, int64_t first, int64_t elements, char* out) {
  const PlacedTensor& placed = *part.placed;
  const std::string& name = part.tensor->on_hugging_face.name;
  if (scaled_ != name) {
    const PlacedTensor& scales = *placed.scales;
    Open(scales.path);
    scales_.resize(static_cast<size_t>(*ElementsOf(scales.shape)));
    file_->Read(scales.begin, scales.end, "the scales of tensor " + name,
                reinterpret_cast<char*>(scales_.data()));
    scaled_ = name;
  }
  Open(placed.path);
  std::vector<uint8_t> bits(static_cast<size_t>(elements));
  file_->Read(placed.begin + first, placed.begin + first + elements, "tensor " + name,
              reinterpret_cast<char*>(bits.data()));
  ScaleBlocks(bits.data(), first, elements, placed.shape[1], scales_,
              reinterpret_cast<uint16_t*>(out));
}

void PlacedElements::Open(const std::string& path) {
  if (file_ != nullptr && file_->path() == path) return;
  file_ = std::make_unique<WeightsFile>(path);
}

}  // namespace trainyard::trainer
