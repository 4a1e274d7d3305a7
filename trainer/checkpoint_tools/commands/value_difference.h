// Compares the elements of two tensors of the same dtype.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_VALUE_DIFFERENCE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_VALUE_DIFFERENCE_H_

#include <torch/types.h>

#include <cstdint>

namespace trainyard::trainer {

// Sums over pairs of elements. The sums of a tensor's parts add up to those of the tensor.
struct ValueDifference {
  int64_t elements = 0;
  int64_t different = 0;     // Pairs with different bits.
  int64_t nan_a = 0;         // NaN elements of A.
  int64_t nan_b = 0;         // NaN elements of B.
  int64_t unpaired_nan = 0;  // Pairs with exactly one NaN.
  // Over pairs without NaN; equal infinities differ by 0.
  double max_abs = 0;
  double squared_difference = 0;
  double squared_a = 0;  // Over the finite elements of A.

  void Add(const ValueDifference& more);

  // |B - A| / |A| with Euclidean norms: 0 if no numbers differ, infinite if A is zero and some
  // differ. Ignores pairs with a NaN.
  double RelativeL2() const;

  // With tolerance 0: all bits are equal. Otherwise: RelativeL2() is at most `tolerance`, and NaNs
  // are in the same places.
  bool IsWithin(double tolerance) const;
};

// Compares `elements` pairs of this dtype on several threads. The result does not depend on the
// number of threads.
ValueDifference CompareValues(torch::ScalarType dtype, const char* a, const char* b,
                              int64_t elements);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_VALUE_DIFFERENCE_H_
