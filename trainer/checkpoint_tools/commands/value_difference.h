// Compares the elements of two tensors of the same dtype.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_VALUE_DIFFERENCE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_VALUE_DIFFERENCE_H_

#include <torch/types.h>

#include <cstdint>

namespace trainyard::trainer {

// Statistics over pairs of elements of A and B. Add combines the statistics of the parts of a
// tensor.
struct ValueDifference {
  int64_t elements = 0;
  int64_t different = 0;     // Number of pairs whose bits differ.
  int64_t nan_a = 0;         // Number of NaN elements of A.
  int64_t nan_b = 0;         // Number of NaN elements of B.
  int64_t unpaired_nan = 0;  // Number of pairs in which exactly one is NaN.
  // Largest absolute difference of a pair without NaN. Equal infinities have difference 0.
  double max_abs = 0;
  double squared_difference = 0;
  double squared_a = 0;  // Sum of squares of the finite elements of A.

  void Add(const ValueDifference& more);

  // Returns |B - A| / |A| with Euclidean norms. 0 if no numbers differ; infinite if A is zero and B
  // is not. Pairs with a NaN are ignored.
  double RelativeL2() const;

  // With tolerance 0: true if all bits are equal. Otherwise: true if RelativeL2() is at most
  // `tolerance`, and A and B have NaNs at the same positions.
  bool IsWithin(double tolerance) const;
};

// Compares `elements` pairs of elements of this dtype on several threads. The result does not
// depend on the number of threads.
ValueDifference CompareValues(torch::ScalarType dtype, const char* a, const char* b,
                              int64_t elements);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_VALUE_DIFFERENCE_H_
