// N-dimensional boxes of a logical tensor, and how the elements of one lie inside another.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_BOX_H_
#define TRAINYARD_TRAINER_CHECKPOINT_BOX_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::trainer {

using Extents = std::vector<int64_t>;

// offset[d] <= index[d] < offset[d] + shape[d] in every dimension. No dimensions: one element.
struct Box {
  Extents offset;
  Extents shape;
};

// Number of elements. nullopt when an extent is negative or the product does not fit 63 bits.
std::optional<int64_t> ElementsOf(const Extents& shape);

// True when the box has the shape's number of dimensions and lies inside it.
bool IsInside(const Box& box, const Extents& shape);

// The elements that both boxes have; nullopt when there are none. Same number of dimensions.
std::optional<Box> Intersect(const Box& a, const Box& b);

// Number of the element at `index` among the box's elements in row-major order, and back.
int64_t NumberOf(const Extents& index, const Box& box);
Extents IndexOf(int64_t number, const Box& box);

// Calls run(first element in `from`, first element in `to`, elements) for each stretch of `part`
// that is contiguous in both boxes, in ascending order; both are stored row-major.
// Precondition: `part` lies inside both and is not empty.
void ForEachRun(const Box& part, const Box& from, const Box& to,
                const std::function<void(int64_t, int64_t, int64_t)>& run);

// The boxes, in ascending order and each contiguous, that together are elements [first, first +
// length) of a row-major tensor of this shape: at most two for each dimension but the last, and
// one. Precondition: the range lies inside the tensor.
std::vector<Box> BoxesOfRange(const Extents& shape, int64_t first, int64_t length);

// The reason why the boxes do not cover each element of `shape` exactly once; empty when they do.
std::string CoverageFault(std::vector<Box> boxes, const Extents& shape);

// "[2, 3]"
std::string ToText(const Extents& extents);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_BOX_H_
