// Flat buffers for a rank's parameters, their gradients and the optimizer state.
#ifndef TRAINYARD_TRAINER_MODEL_PARAMETER_STORE_H_
#define TRAINYARD_TRAINER_MODEL_PARAMETER_STORE_H_

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "trainer/model/parameter_layout.h"

namespace trainyard::trainer {

// The parts of each group that this rank keeps between steps (ZeRO, Rajbhandari et al. 2020, arXiv
// 1910.02054). Ranks that train on different samples have the same parameters. `owned` is a rank's
// part among the ranks that share one copy.
struct StoreParts {
  int64_t zero = 0;    // ZeRO stage: 1 shards the optimizer state, 2 also gradients, 3 also values.
  Shard owned = {};    // Everything with zero 0.
  Shard stored = {};   // Part of `owned` that this rank reads and writes.
  bool trains = true;  // False (evaluation): no gradients, no low bits.
};

// Buffers of a rank's parameters. The model computes with `values`; `gradients` are sums over
// micro-batches. fp32 and fp64 values are the master weights. For bf16 values, the gradients are
// fp32, and `low_bits` contains the rest of the fp32 master weights (ops/master_weights.h).
// A buffer contains either all elements of the layout or, group after group, only the owned parts.
// The optimizer state contains only owned parts from ZeRO stage 1 on, gradients from stage 2 on,
// and values at stage 3. A complete group of gradients or values then exists only while it is
// needed. Not thread-safe unless stated otherwise.
class ParameterStore {
 public:
  // Allocates and initialises the buffers. Values are a pure function of (seed, logical name,
  // element); without a seed they are 0 and must be loaded.
  ParameterStore(const std::vector<GroupDeclaration>& groups, torch::ScalarType type,
                 torch::Device device, std::optional<uint64_t> seed, const StoreParts& parts = {});

  // Resets all weights to the initial values of this seed.
  void Initialise(uint64_t seed);

  const std::vector<ParameterGroup>& groups() const { return layout_.groups(); }
  const std::vector<StoredSlice>& slices() const { return layout_.slices(); }
  int64_t size() const { return static_cast<int64_t>(layout_.parameters().size()); }
  int64_t GroupOf(int64_t parameter) const { return layout_.parameters()[parameter].group; }
  int64_t elements() const { return layout_.elements(); }
  const StoreParts& parts() const { return parts_; }
  torch::Device device() const { return values_.device(); }

  // This rank's part of a group, in the optimizer state and in checkpoints.
  ElementRange OwnedOf(int64_t group) const { return layout_.PartOf(group, parts_.owned); }
  ElementRange StoredOf(int64_t group) const { return layout_.PartOf(group, parts_.stored); }
  // Elements stored by the rank with another part.
  ElementRange StoredOf(int64_t group, int64_t part) const {
    return layout_.PartOf(group, {part, parts_.stored.count});
  }

  // A parameter or its gradient, in its shape. With zero 3 the group's values must be held. With
  // zero 2 and 3 a group's gradient is allocated on first use.
  torch::Tensor Value(int64_t parameter) const;
  torch::Tensor Gradient(int64_t parameter);

  // The whole group, flat.
  torch::Tensor WholeValues(int64_t group) const;
  torch::Tensor WholeGradients(int64_t group);
  // zero 3: allocates and frees the memory for a group's values.
  void HoldValues(int64_t group);
  void DropValues(int64_t group);
  // zero 2 and 3: frees the memory of a group's gradients.
  void DropGradients(int64_t group);

  // Elements of a group that this rank keeps: only owned ones for values with zero 3, and for
  // gradients with zero 2 and 3.
  torch::Tensor Values(int64_t group, const ElementRange& range) const;
  torch::Tensor Gradients(int64_t group, const ElementRange& range) const;
  // Owned elements of a state buffer.
  torch::Tensor State(const torch::Tensor& buffer, int64_t group, const ElementRange& range) const;
  // Size of a state buffer: the elements this rank owns.
  int64_t state_elements() const { return elements() / parts_.owned.count; }

  // The buffers, with all elements or only the owned ones.
  const torch::Tensor& values() const { return values_; }
  const torch::Tensor& gradients() const { return gradients_; }
  const torch::Tensor& low_bits() const { return low_bits_; }  // May be undefined.

  // Sets the kept part of a slice's master weights: values, and low bits of owned elements.
  // elements: one-dimensional, of any type, on any device.
  void SetMaster(const StoredSlice& slice, const torch::Tensor& elements);

  // Rows of a slice's elements. Row r begins at element first + r * stride.
  struct RowPlaces {
    int64_t first = 0;
    int64_t stride = 0;
  };
  // Sets some elements that this rank owns. rows: [n, length], on the store's device. Threads may
  // set different elements concurrently.
  void SetMaster(const StoredSlice& slice, const RowPlaces& places, const torch::Tensor& rows);

 private:
  torch::Tensor Part(const torch::Tensor& buffer, bool is_owned_part, int64_t group,
                     const ElementRange& range) const;
  torch::Tensor Shaped(const torch::Tensor& whole_group, int64_t parameter) const;
  void SetValues(int64_t group, const ElementRange& range, const torch::Tensor& values);

  const StoreParts parts_;
  const ParameterLayout layout_;
  torch::Tensor values_;
  torch::Tensor low_bits_;
  torch::Tensor gradients_;
  std::vector<torch::Tensor> held_values_;     // By group; zero 3.
  std::vector<torch::Tensor> held_gradients_;  // By group; zero 2 and 3.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_PARAMETER_STORE_H_
