#include "trainer/checkpoint/box.h"

#include <algorithm>
#include <limits>

namespace trainyard::trainer {
namespace {

// Returns the strides of a row-major box, in elements.
Extents StridesOf(const Extents& shape) {
  Extents strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

// Returns the lowest dimension d such that, in both boxes, `part` spans the full extent of every
// dimension after d. From d on, `part` is therefore contiguous in both boxes.
size_t FirstRunDimension(const Box& part, const Box& from, const Box& to) {
  size_t d = part.shape.size();
  while (d > 0) {
    --d;
    if (part.shape[d] != from.shape[d] || part.shape[d] != to.shape[d]) return d;
  }
  return 0;
}

int64_t LinearIndex(const Extents& index, const Box& box, const Extents& strides) {
  int64_t linear = 0;
  for (size_t d = 0; d < index.size(); ++d) linear += (index[d] - box.offset[d]) * strides[d];
  return linear;
}

// Advances `index` to the next position of `part` in dimensions [0, dimensions). Returns false
// after the last position.
bool Advance(const Box& part, size_t dimensions, Extents* index) {
  for (size_t d = dimensions; d-- > 0;) {
    if (++(*index)[d] < part.offset[d] + part.shape[d]) return true;
    (*index)[d] = part.offset[d];
  }
  return false;
}

// `index` contains the leading indices of a sub-tensor of `shape`. Adds boxes that together cover
// elements [first, first + length) of this sub-tensor.
void AddBoxesOfRange(const Extents& shape, const Extents& index, int64_t first, int64_t length,
                     std::vector<Box>& boxes) {
  const size_t depth = index.size();
  const int64_t row = StridesOf(shape)[depth];
  const auto descend = [&](int64_t at, int64_t count) {
    Extents deeper = index;
    deeper.push_back(at / row);
    AddBoxesOfRange(shape, deeper, at % row, count, boxes);
  };
  if (first % row != 0 && length > 0) {
    const int64_t head = std::min(length, row - first % row);
    descend(first, head);
    first += head;
    length -= head;
  }
  if (length >= row) {
    Box whole = {index, Extents(depth, 1)};
    whole.offset.push_back(first / row);
    whole.shape.push_back(length / row);
    whole.offset.resize(shape.size(), 0);
    whole.shape.insert(whole.shape.end(), shape.begin() + static_cast<int64_t>(depth) + 1,
                       shape.end());
    boxes.push_back(std::move(whole));
  }
  if (length % row != 0) descend(first + length / row * row, length % row);
}

std::string BoxText(const Box& box) {
  return "offset " + ToText(box.offset) + " shape " + ToText(box.shape);
}

}  // namespace

std::optional<int64_t> ElementsOf(const Extents& shape) {
  int64_t elements = 1;
  for (const int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(elements, extent, &elements)) return std::nullopt;
  }
  return elements;
}

bool IsInside(const Box& box, const Extents& shape) {
  if (box.offset.size() != shape.size() || box.shape.size() != shape.size()) return false;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (box.offset[d] < 0 || box.shape[d] < 0 || box.shape[d] > shape[d]) return false;
    if (box.offset[d] > shape[d] - box.shape[d]) return false;
  }
  return true;
}

std::optional<Box> Intersect(const Box& a, const Box& b) {
  Box both;
  for (size_t d = 0; d < a.offset.size(); ++d) {
    const int64_t begin = std::max(a.offset[d], b.offset[d]);
    const int64_t end = std::min(a.offset[d] + a.shape[d], b.offset[d] + b.shape[d]);
    if (begin >= end) return std::nullopt;
    both.offset.push_back(begin);
    both.shape.push_back(end - begin);
  }
  return both;
}

int64_t NumberOf(const Extents& index, const Box& box) {
  return LinearIndex(index, box, StridesOf(box.shape));
}

Extents IndexOf(int64_t number, const Box& box) {
  Extents index = box.offset;
  for (size_t d = index.size(); d-- > 0;) {
    index[d] += number % box.shape[d];
    number /= box.shape[d];
  }
  return index;
}

std::vector<Box> BoxesOfRange(const Extents& shape, int64_t first, int64_t length) {
  std::vector<Box> boxes;
  if (shape.empty() && length > 0) return {Box{}};
  if (length > 0) AddBoxesOfRange(shape, {}, first, length, boxes);
  return boxes;
}

void ForEachRun(const Box& part, const Box& from, const Box& to,
                const std::function<void(int64_t, int64_t, int64_t)>& run) {
  const Extents from_strides = StridesOf(from.shape);
  const Extents to_strides = StridesOf(to.shape);
  const size_t first = FirstRunDimension(part, from, to);
  int64_t elements = 1;
  for (size_t d = first; d < part.shape.size(); ++d) elements *= part.shape[d];
  Extents index = part.offset;
  do {
    run(LinearIndex(index, from, from_strides), LinearIndex(index, to, to_strides), elements);
  } while (Advance(part, first, &index));
}

std::string CoverageFault(std::vector<Box> boxes, const Extents& shape) {
  int64_t covered = 0;
  for (const Box& box : boxes) {
    if (!IsInside(box, shape)) return BoxText(box) + " is outside shape " + ToText(shape);
    covered += ElementsOf(box.shape).value_or(0);
  }
  std::sort(boxes.begin(), boxes.end(),
            [](const Box& a, const Box& b) { return a.offset < b.offset; });
  for (size_t i = 0; i < boxes.size(); ++i) {
    const int64_t end = shape.empty() ? 1 : boxes[i].offset[0] + boxes[i].shape[0];
    for (size_t j = i + 1; j < boxes.size(); ++j) {
      if (!shape.empty() && boxes[j].offset[0] >= end) break;  // boxes is sorted: no later overlap.
      if (Intersect(boxes[i], boxes[j]))
        return BoxText(boxes[i]) + " and " + BoxText(boxes[j]) + " contain the same elements";
    }
  }
  const int64_t all = ElementsOf(shape).value_or(std::numeric_limits<int64_t>::max());
  if (covered == all) return "";
  return "only " + std::to_string(covered) + " of " + std::to_string(all) + " elements are present";
}

std::string ToText(const Extents& extents) {
  std::string text = "[";
  for (size_t d = 0; d < extents.size(); ++d) {
    text += (d > 0 ? ", " : "") + std::to_string(extents[d]);
  }
  return text + "]";
}

}  // namespace trainyard::trainer
