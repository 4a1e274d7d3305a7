// Comparison of the elements of two tensors of one dtype.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_VALUE_DIFFERENCE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_VALUE_DIFFERENCE_H_

#include <torch/types.h>

#include <cstdint>

namespace trainyard::trainer {

// Sums over pairs of elements; those of the parts of a tensor add up to those of the tensor.
struct ValueDifference {
  int64_t elements = 0;
  int64_t different = 0;     // pairs whose bits differ
  int64_t nan_a = 0;         // elements of A that are NaN
  int64_t nan_b = 0;         // elements of B that are NaN
  int64_t unpaired_nan = 0;  // pairs of which exactly one is NaN
  // Over pairs of two numbers; equal infinities differ by 0.
  double max_abs = 0;
  double squared_difference = 0;
  double squared_a = 0;  // over the finite elements of A

  void Add(const ValueDifference& more);

  // |B - A| / |A|, each a Euclidean norm: 0 when no numbers differ, infinite when A is zero and
  // some do. Pairs with a NaN do not count.
  double RelativeL2() const;

  // With tolerance 0: no bit differs. Else: RelativeL2() is at most `tolerance`, and NaNs are at
  // the same places.
  bool IsWithin(double tolerance) const;
};

// Compares `elements` pairs of this dtype, with several threads. The result does not depend on
// their number.
ValueDifference CompareValues(torch::ScalarType dtype, const char* a, const char* b,
                              int64_t elements);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_VALUE_DIFFERENCE_H_
