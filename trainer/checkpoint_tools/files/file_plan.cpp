#include "trainer/checkpoint_tools/files/file_plan.h"

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <utility>

#include "trainer/checkpoint/box.h"

namespace trainyard::trainer {
namespace {

constexpr int64_t kFileBytes = int64_t{4} << 30;

using NamedTensor = StoredTensors::value_type;

int64_t ElementBytes(const StoredTensor& tensor) {
  return static_cast<int64_t>(c10::elementSize(tensor.dtype));
}

std::vector<const NamedTensor*> WidestFirst(const StoredTensors& tensors) {
  std::vector<const NamedTensor*> order;
  for (const NamedTensor& tensor : tensors) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(), [](const NamedTensor* a, const NamedTensor* b) {
    return ElementBytes(a->second) > ElementBytes(b->second);
  });
  return order;
}

// Returns the first byte of file number `file` if `bytes` bytes are split into `files` files of
// equal size. The formula avoids products that could overflow.
int64_t BeginOf(int64_t file, int64_t files, int64_t bytes) {
  return bytes / files * file + bytes % files * file / files;
}

// Returns the start of a row that is nearest to `element`. A tensor with fewer than two dimensions
// has rows of one element.
int64_t NearestRow(int64_t element, const Extents& shape) {
  const int64_t row = shape.size() < 2 ? 1 : shape.back();
  return (element + row / 2) / row * row;
}

void AddChunks(const NamedTensor& tensor, int64_t first, int64_t elements,
               std::vector<PlannedChunk>* file) {
  for (Box& box : BoxesOfRange(tensor.second.shape, first, elements)) {
    file->push_back({tensor.first, tensor.second.dtype, tensor.second.shape, std::move(box)});
  }
}

}  // namespace

int64_t BytesOf(const StoredTensors& tensors) {
  int64_t bytes = 0;
  for (const auto& [_, tensor] : tensors) {
    bytes += ElementsOf(tensor.shape).value() * ElementBytes(tensor);
  }
  return bytes;
}

int64_t FilesFor(int64_t bytes) { return std::max<int64_t>(1, (bytes - 1) / kFileBytes + 1); }

std::vector<std::vector<PlannedChunk>> PlanFiles(const StoredTensors& tensors, int64_t files) {
  const int64_t bytes = BytesOf(tensors);
  std::vector<std::vector<PlannedChunk>> plan(1);
  int64_t begin = 0;  // First byte of the tensor, counted over all tensors.
  int64_t file = 0;
  for (const NamedTensor* tensor : WidestFirst(tensors)) {
    const int64_t elements = ElementsOf(tensor->second.shape).value();
    for (int64_t first = 0; first < elements;) {
      const int64_t left = BeginOf(file + 1, files, bytes) - begin;
      const int64_t last = NearestRow(left / ElementBytes(tensor->second), tensor->second.shape);
      const int64_t cut = file + 1 == files ? elements : std::min(elements, last);
      if (cut > first) AddChunks(*tensor, first, cut - first, &plan.back());
      first = std::max(first, cut);
      if (first == elements) break;
      ++file;
      if (!plan.back().empty()) plan.emplace_back();
    }
    begin += elements * ElementBytes(tensor->second);
  }
  return plan;
}

}  // namespace trainyard::trainer
