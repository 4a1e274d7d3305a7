// Reads slices of a parameter store for tests.
#ifndef TRAINYARD_TESTS_TRAINER_MODEL_STORED_SLICES_H_
#define TRAINYARD_TESTS_TRAINER_MODEL_STORED_SLICES_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/model/parameters/parameter_store.h"
#include "trainer/ops/optimizer/master_weights.h"

namespace trainyard::trainer {

// Returns the part of `flat` that belongs to the slice, in the slice's shape. `flat` contains all
// elements of the store.
inline torch::Tensor SliceOf(const torch::Tensor& flat, const StoredSlice& slice) {
  return flat.narrow(0, slice.range.first, slice.range.length).view(slice.logical.shape);
}

// Returns a slice's master weights. The weights are fp64 if the values are fp64, else fp32. This
// rank must own all state. For bf16 values, the result is a copy.
inline torch::Tensor MasterOf(const ParameterStore& store, const StoredSlice& slice) {
  const torch::Tensor values = SliceOf(store.values(), slice);
  if (store.masters().defined()) return SliceOf(store.masters(), slice);
  if (!store.low_bits().defined()) return values;
  return JoinMasterWeights(values, SliceOf(store.low_bits(), slice));
}

// Returns the number of elements in this rank's slices, without padding.
inline int64_t ElementCount(const ParameterStore& store) {
  int64_t count = 0;
  for (const StoredSlice& slice : store.slices()) count += slice.range.length;
  return count;
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_MODEL_STORED_SLICES_H_
