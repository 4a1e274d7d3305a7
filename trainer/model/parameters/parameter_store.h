// Flat buffers for a rank's parameters, their gradients and the optimizer state.
#ifndef TRAINYARD_TRAINER_MODEL_PARAMETERS_PARAMETER_STORE_H_
#define TRAINYARD_TRAINER_MODEL_PARAMETERS_PARAMETER_STORE_H_

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "trainer/model/parameters/parameter_layout.h"

namespace trainyard::trainer {

class Fp8Parameters;

// The parts that this rank keeps of each group of one kind. The ranks with equal parameters of this
// kind divide one copy of the parameters among themselves.
struct KeptParts {
  Shard owned = {};   // This rank's part of the copy. The whole group if nothing is sharded.
  Shard stored = {};  // Part of `owned` that this rank saves and loads.
  // True on one of the ranks that own equal elements. Only this rank counts them in sums over all
  // ranks, such as norms.
  bool counts = true;
};

// The data that this rank keeps between steps (ZeRO, Rajbhandari et al. 2020, arXiv 1910.02054).
struct StoreParts {
  int64_t zero = 0;  // ZeRO stage. 1 shards the optimizer state, 2 also gradients, 3 also values.
  PerKind<KeptParts> kept;
  bool trains = true;  // False for evaluation: no gradients and no master weights.

  const KeptParts& of(ParameterKind kind) const { return kept.of(kind); }
};

// The buffers of a rank's parameters. The model computes with `values`. `gradients` contains sums
// over micro-batches. fp32 and fp64 values are themselves the master weights. If the values are
// bf16, the gradients are fp32, and `low_bits` contains the rest of the fp32 master weights
// (ops/master_weights.h). If the values are fp16, `masters` contains the whole fp32 master weights,
// because 16 more bits would not make an fp16 number exact.
//
// A buffer contains either all elements of the layout or, group after group, only the parts that
// this rank owns. Only these parts are stored for the optimizer state from ZeRO stage 1 on, for the
// gradients from stage 2 on, and for the values in stage 3. A whole group of gradients or values is
// then in memory only while it is needed. Not thread-safe unless stated otherwise.
class ParameterStore {
 public:
  // Allocates and initializes the buffers. The initial values are a pure function of (seed, logical
  // name, element). Without a seed, the values are 0 and must be loaded.
  ParameterStore(const std::vector<GroupDeclaration>& groups, torch::ScalarType type,
                 torch::Device device, std::optional<uint64_t> seed, const StoreParts& parts = {});

  // Resets all weights to the initial values of this seed.
  void Initialise(uint64_t seed);

  const std::vector<ParameterGroup>& groups() const { return layout_.groups(); }
  const std::vector<StoredSlice>& slices() const { return layout_.slices(); }
  int64_t size() const { return static_cast<int64_t>(layout_.parameters().size()); }
  int64_t GroupOf(int64_t parameter) const { return layout_.parameters()[parameter].group; }
  // Returns the elements of a parameter in the flat buffers.
  const ElementRange& RangeOf(int64_t parameter) const {
    return layout_.parameters()[parameter].range;
  }
  int64_t elements() const { return layout_.elements(); }
  const StoreParts& parts() const { return parts_; }
  torch::Device device() const { return values_.device(); }

  // Returns this rank's part of a group, as used in the optimizer state and in checkpoints.
  ElementRange OwnedOf(int64_t group) const { return layout_.PartOf(group, PartsOf(group).owned); }
  ElementRange StoredOf(int64_t group) const {
    return layout_.PartOf(group, PartsOf(group).stored);
  }
  // Returns the elements of a group that the rank with these part numbers saves and loads.
  ElementRange StoredOf(int64_t group, const PerKind<int64_t>& part) const {
    return layout_.PartOf(group, {part.of(groups()[group].kind), PartsOf(group).stored.count});
  }
  const KeptParts& PartsOf(int64_t group) const { return parts_.of(groups()[group].kind); }

  // Value returns a parameter, and Gradient its gradient, both in the shape of the parameter. In
  // ZeRO stage 3, HoldValues must have been called for the parameter's group. In stages 2 and 3,
  // the first use allocates the gradients of a group.
  torch::Tensor Value(int64_t parameter) const;
  torch::Tensor Gradient(int64_t parameter);

  // WholeValues and WholeGradients return all elements of a group as a flat tensor.
  torch::Tensor WholeValues(int64_t group) const;
  torch::Tensor WholeGradients(int64_t group);
  // For ZeRO stage 3: HoldValues allocates memory for the values of a whole group, and DropValues
  // frees it.
  void HoldValues(int64_t group);
  void DropValues(int64_t group);
  // For ZeRO stages 2 and 3: frees the memory for the gradients of a whole group.
  void DropGradients(int64_t group);

  // DropValues calls `callback` with the group.
  void OnValuesDropped(std::function<void(int64_t group)> callback) {
    values_dropped_ = std::move(callback);
  }

  // The parameters whose products use FP8; null if there are none. `fp8` must outlive this object.
  void UseFp8(Fp8Parameters& fp8) { fp8_ = &fp8; }
  Fp8Parameters* fp8() const { return fp8_; }

  // Returns elements of a group that this rank keeps. This rank must own the range in ZeRO stage 3
  // for Values, and in stages 2 and 3 for Gradients.
  torch::Tensor Values(int64_t group, const ElementRange& range) const;
  torch::Tensor Gradients(int64_t group, const ElementRange& range) const;
  // Returns owned elements of a buffer of optimizer state.
  torch::Tensor State(const torch::Tensor& buffer, int64_t group, const ElementRange& range) const;
  // The size of an optimizer state buffer: the number of elements that this rank owns.
  int64_t state_elements() const { return state_elements_; }

  // Each buffer contains either all elements or only those that this rank owns.
  const torch::Tensor& values() const { return values_; }
  const torch::Tensor& gradients() const { return gradients_; }
  const torch::Tensor& low_bits() const { return low_bits_; }  // Defined for bf16 only.
  const torch::Tensor& masters() const { return masters_; }    // Defined for fp16 only.

  // Sets those master weights of a slice that this rank keeps. A rank keeps low bits or masters
  // only for elements it owns. `elements` is one-dimensional and may have any type and device.
  void SetMaster(const StoredSlice& slice, const torch::Tensor& elements);

  // The positions of rows within a slice. Row r begins at element first + r * stride.
  struct RowPlaces {
    int64_t first = 0;
    int64_t stride = 0;
  };
  // Sets the elements at `places`, all of which this rank must own. `rows` is [n, length], on the
  // device of the store. Several threads may set different elements concurrently.
  void SetMaster(const StoredSlice& slice, const RowPlaces& places, const torch::Tensor& rows);

 private:
  torch::Tensor Part(const torch::Tensor& buffer, bool is_owned_part, int64_t group,
                     const ElementRange& range) const;
  torch::Tensor Shaped(const torch::Tensor& whole_group, int64_t parameter) const;
  void SetValues(int64_t group, const ElementRange& range, const torch::Tensor& values);

  const StoreParts parts_;
  const ParameterLayout layout_;
  std::vector<int64_t> owned_first_;  // By group: the place of its owned part in a state buffer.
  int64_t state_elements_ = 0;
  torch::Tensor values_;
  torch::Tensor low_bits_;
  torch::Tensor masters_;
  torch::Tensor gradients_;
  std::vector<torch::Tensor> held_values_;     // Indexed by group; used in ZeRO stage 3.
  std::vector<torch::Tensor> held_gradients_;  // Indexed by group; used in stages 2 and 3.
  Fp8Parameters* fp8_ = nullptr;
  std::function<void(int64_t)> values_dropped_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_PARAMETERS_PARAMETER_STORE_H_
