// The parameters of a model on one rank, their gradients and the state of the optimizer, in flat
// buffers.
#ifndef TRAINYARD_TRAINER_MODEL_PARAMETER_STORE_H_
#define TRAINYARD_TRAINER_MODEL_PARAMETER_STORE_H_

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "trainer/model/parameter_layout.h"

namespace trainyard::trainer {

// The parts of each group that this rank keeps between steps (ZeRO, Rajbhandari et al. 2020, arXiv
// 1910.02054). All ranks that see other samples hold the same parameters; `owned` is a rank's part
// among those that share one copy.
struct StoreParts {
  int64_t zero =
      0;  // 1: of the optimizer's state; 2: of the gradients, too; 3: of the values, too.
  Shard owned = {};    // With zero 0 everything.
  Shard stored = {};   // Part of `owned` that this rank reads from and writes to checkpoints.
  bool trains = true;  // False: no gradients and no low bits, of which an evaluation needs none.
};

// `values`, which the model computes with, and `gradients`, sums over micro-batches. fp32 and fp64
// values are the master weights themselves. bf16 values come with `low_bits`, the rest of their
// fp32 master weights (ops/master_weights.h), and with fp32 gradients.
// A buffer has all elements of the layout, or the owned part of each group in turn: those of the
// optimizer's state with zero 1, gradients with 2, values with 3. Then a whole group of gradients
// or values exists while it is needed. One thread at a time where nothing else is said.
class ParameterStore {
 public:
  // Allocates and initialises: values are a pure function of (seed, logical name, element). Without
  // a seed they are 0, for a checkpoint to fill.
  ParameterStore(const std::vector<GroupDeclaration>& groups, torch::ScalarType type,
                 torch::Device device, std::optional<uint64_t> seed, const StoreParts& parts = {});

  // Sets all weights as the constructor does with this seed.
  void Initialise(uint64_t seed);

  const std::vector<ParameterGroup>& groups() const { return layout_.groups(); }
  const std::vector<StoredSlice>& slices() const { return layout_.slices(); }
  int64_t size() const { return static_cast<int64_t>(layout_.parameters().size()); }
  int64_t GroupOf(int64_t parameter) const { return layout_.parameters()[parameter].group; }
  int64_t elements() const { return layout_.elements(); }
  // Elements of this rank's slices, without padding.
  int64_t element_count() const;
  const StoreParts& parts() const { return parts_; }
  torch::Device device() const { return values_.device(); }

  // This rank's part of a group in the optimizer's state, and in checkpoints.
  ElementRange OwnedOf(int64_t group) const { return layout_.PartOf(group, parts_.owned); }
  ElementRange StoredOf(int64_t group) const { return layout_.PartOf(group, parts_.stored); }
  // What the rank with another part stores.
  ElementRange StoredOf(int64_t group, int64_t part) const {
    return layout_.PartOf(group, {part, parts_.stored.count});
  }

  // A parameter, and its gradient, in its shape. With zero 3 the group must be held; with zero 2
  // the gradient of a group is made when it is first asked for.
  torch::Tensor Value(int64_t parameter) const;
  torch::Tensor Gradient(int64_t parameter);

  // All of a group, flat.
  torch::Tensor WholeValues(int64_t group) const;
  torch::Tensor WholeGradients(int64_t group);
  // zero 3: makes memory for the values of a group, and gives it back.
  void HoldValues(int64_t group);
  void DropValues(int64_t group);
  // zero 2 and 3: gives the memory of a group's gradients back.
  void DropGradients(int64_t group);

  // Elements of a group that this rank keeps: with zero 3 (values) or 2 (gradients) owned ones.
  torch::Tensor Values(int64_t group, const ElementRange& range) const;
  torch::Tensor Gradients(int64_t group, const ElementRange& range) const;
  // Owned elements of a state buffer.
  torch::Tensor State(const torch::Tensor& buffer, int64_t group, const ElementRange& range) const;
  // Elements of a state buffer: what this rank owns.
  int64_t state_elements() const { return elements() / parts_.owned.count; }

  // The buffers, of all elements or of what is owned.
  const torch::Tensor& values() const { return values_; }
  const torch::Tensor& gradients() const { return gradients_; }
  const torch::Tensor& low_bits() const { return low_bits_; }  // Undefined where there are none.

  // The elements of a slice in a buffer of all elements, in its shape.
  torch::Tensor SliceOf(const torch::Tensor& flat, const StoredSlice& slice) const;
  // A slice's master weights where this rank owns all state: fp32, or fp64 where the values are; a
  // copy for bf16 values.
  torch::Tensor Master(const StoredSlice& slice) const;
  // Sets all master weights of a slice, as far as this rank keeps them: values, and the low bits of
  // what it owns. elements: of one dimension, of any type and on any device.
  void SetMaster(const StoredSlice& slice, const torch::Tensor& elements);

  // Rows of a slice's elements: row r begins with element first + r * stride.
  struct RowPlaces {
    int64_t first = 0;
    int64_t stride = 0;
  };
  // The same for some elements that this rank owns. rows: [n, length], on the store's device.
  // Threads may set different elements at a time.
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
