// N-dimensional boxes of a logical tensor, and the mapping of elements between boxes.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_BOX_H_
#define TRAINYARD_TRAINER_CHECKPOINT_BOX_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::trainer {

using Extents = std::vector<int64_t>;

// Indices with offset[d] <= index[d] < offset[d] + shape[d] in every dimension. A box without
// dimensions has one element.
struct Box {
  Extents offset;
  Extents shape;
};

// Number of elements; nullopt if an extent is negative or the product does not fit 63 bits.
std::optional<int64_t> ElementsOf(const Extents& shape);

// True if the box has as many dimensions as `shape` and is inside it.
bool IsInside(const Box& box, const Extents& shape);

// The common elements of two boxes; nullopt if there are none. Both need equally many dimensions.
std::optional<Box> Intersect(const Box& a, const Box& b);

// Row-major number of the element at `index` in the box, and the inverse.
int64_t NumberOf(const Extents& index, const Box& box);
Extents IndexOf(int64_t number, const Box& box);

// Calls run(first element in `from`, first element in `to`, number of elements) for each run of
// `part` that is contiguous in both boxes, in ascending order. Both are stored row-major.
// Precondition: `part` is inside both and not empty.
void ForEachRun(const Box& part, const Box& from, const Box& to,
                const std::function<void(int64_t, int64_t, int64_t)>& run);

// Splits elements [first, first + length) of a row-major tensor of this shape into contiguous
// boxes, in ascending order: at most two per dimension except the last, plus one. Precondition: the
// range is inside the tensor.
std::vector<Box> BoxesOfRange(const Extents& shape, int64_t first, int64_t length);

// Reason why the boxes do not cover each element of `shape` exactly once; "" if they do.
std::string CoverageFault(std::vector<Box> boxes, const Extents& shape);

// Formats as "[2, 3]".
std::string ToText(const Extents& extents);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_BOX_H_
