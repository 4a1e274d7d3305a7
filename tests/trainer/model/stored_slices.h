// Slices of a parameter store, read by tests.
#ifndef TRAINYARD_TESTS_TRAINER_MODEL_STORED_SLICES_H_
#define TRAINYARD_TESTS_TRAINER_MODEL_STORED_SLICES_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/model/parameter_store.h"
#include "trainer/ops/master_weights.h"

namespace trainyard::trainer {

// A slice's elements within a buffer of all elements, in the slice's shape.
inline torch::Tensor SliceOf(const torch::Tensor& flat, const StoredSlice& slice) {
  return flat.narrow(0, slice.range.first, slice.range.length).view(slice.logical.shape);
}

// A slice's master weights, if this rank owns all state: in fp32, or fp64 if the values are fp64.
// For bf16 values, the result is a copy.
inline torch::Tensor MasterOf(const ParameterStore& store, const StoredSlice& slice) {
  const torch::Tensor values = SliceOf(store.values(), slice);
  if (!store.low_bits().defined()) return values;
  return JoinMasterWeights(values, SliceOf(store.low_bits(), slice));
}

// Number of elements of this rank's slices, without padding.
inline int64_t ElementCount(const ParameterStore& store) {
  int64_t count = 0;
  for (const StoredSlice& slice : store.slices()) count += slice.range.length;
  return count;
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_MODEL_STORED_SLICES_H_
