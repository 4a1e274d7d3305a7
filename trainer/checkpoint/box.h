// N-dimensional boxes within a logical tensor, and the copying of elements from one box to another.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_BOX_H_
#define TRAINYARD_TRAINER_CHECKPOINT_BOX_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::trainer {

using Extents = std::vector<int64_t>;

// The set of indices with offset[d] <= index[d] < offset[d] + shape[d] in every dimension d. A box
// with no dimensions has one element.
struct Box {
  Extents offset;
  Extents shape;
};

// Returns nullopt if an extent is negative or the number of elements does not fit in 63 bits.
std::optional<int64_t> ElementsOf(const Extents& shape);

// True if the box has the same number of dimensions as `shape` and lies inside it.
bool IsInside(const Box& box, const Extents& shape);

// Returns the box of elements that both boxes contain; nullopt if there are none. Both boxes must
// have the same number of dimensions.
std::optional<Box> Intersect(const Box& a, const Box& b);

// Returns the position of the element at `index` within the row-major box. IndexOf is the inverse.
int64_t NumberOf(const Extents& index, const Box& box);
Extents IndexOf(int64_t number, const Box& box);

// Calls run(first element in `from`, first element in `to`, number of elements) for each run of
// elements of `part` that is contiguous in both boxes, in ascending order. Both boxes are stored
// row-major. Precondition: `part` is not empty and is inside both boxes.
void ForEachRun(const Box& part, const Box& from, const Box& to,
                const std::function<void(int64_t, int64_t, int64_t)>& run);

// Splits elements [first, first + length) of a row-major tensor of this shape into contiguous
// boxes, in ascending order. A tensor of d dimensions gives at most 2 * (d - 1) + 1 boxes.
// Precondition: the range is inside the tensor.
std::vector<Box> BoxesOfRange(const Extents& shape, int64_t first, int64_t length);

// Returns a reason why the boxes do not cover each element of `shape` exactly once; "" if they do.
std::string CoverageFault(std::vector<Box> boxes, const Extents& shape);

// Returns text such as "[2, 3]".
std::string ToText(const Extents& extents);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_BOX_H_
