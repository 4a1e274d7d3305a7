// The parameters of a model on one rank: flat buffers, and for each parameter the logical tensors
// that it holds a slice of.
#ifndef TRAINYARD_TRAINER_MODEL_PARAMETER_STORE_H_
#define TRAINYARD_TRAINER_MODEL_PARAMETER_STORE_H_

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::trainer {

// A tensor with its name and shape in checkpoints and on Hugging Face, and this rank's slice of it.
struct LogicalTensorSlice {
  std::string name;                   // Such as model.layers.0.self_attn.q_proj.weight.
  std::vector<int64_t> global_shape;  // Of the whole tensor, the same for every layout.
  std::vector<int64_t> offset;        // Of the slice; one entry a dimension.
  std::vector<int64_t> shape;         // Of the slice.
  double init_std = 0;                // Normal initialisation; 0: all ones.
};

// A slice that is the whole tensor.
LogicalTensorSlice WholeLogicalTensor(std::string name, std::vector<int64_t> shape,
                                      double init_std);

// One tensor that the model computes with: logical slices stacked along the first dimension, so
// that matrices which share an input are one matrix product.
struct ParameterDeclaration {
  std::vector<LogicalTensorSlice> slices;
  bool decays = false;  // Weight decay applies.
};

// Parameters whose gradients are complete at the same time: a block, the embedding, the head.
struct GroupDeclaration {
  std::string name;
  std::vector<ParameterDeclaration> parameters;
};

// Elements [first, first + length) of the flat buffers.
struct ElementRange {
  int64_t first = 0;
  int64_t length = 0;

  int64_t end() const { return first + length; }
};

// The elements of both; `length` is 0 when there are none.
ElementRange Intersect(const ElementRange& a, const ElementRange& b);

// Position of a logical slice in the flat buffers.
struct StoredSlice {
  LogicalTensorSlice logical;
  ElementRange range;
  int64_t group = 0;
};

// The part of the optimizer's state that this rank holds: part `index` of each group's `count`
// equal parts (ZeRO, Rajbhandari et al. 2020, arXiv 1910.02054).
struct StateShard {
  int64_t index = 0;
  int64_t count = 1;
};

// One after the other in the flat buffers, each with its decaying parameters first.
struct ParameterGroup {
  std::string name;
  ElementRange all;
  ElementRange decaying;
  ElementRange constant;  // Parameters that do not decay.
};

// Flat buffers of one length: `values`, which the model computes with, and `gradients`, sums over
// micro-batches. fp32 and fp64 values are the master weights themselves. bf16 values come with
// `low_bits`, the rest of their fp32 master weights (ops/master_weights.h), and with fp32
// gradients. Each parameter begins at a multiple of kAlignment elements, and so does each part of a
// group; the padding between stays zero and is never saved. Parameters are numbered in the order of
// their declaration.
// State buffers, `low_bits` and those of the optimizer, have the elements that this rank owns only:
// its part of each group in turn, `state_elements` in all.
class ParameterStore {
 public:
  static constexpr int64_t kAlignment = 64;

  // Allocates and initialises: values are a pure function of (seed, logical name, element). Without
  // a seed they are 0, for a checkpoint to fill. The groups are in the order of the backward pass.
  ParameterStore(std::vector<GroupDeclaration> groups, torch::ScalarType type, torch::Device device,
                 std::optional<uint64_t> seed, StateShard shard = {});

  int64_t size() const { return static_cast<int64_t>(parameters_.size()); }
  const torch::Tensor& Value(int64_t parameter) const { return parameters_[parameter].value; }
  const torch::Tensor& Gradient(int64_t parameter) const { return parameters_[parameter].gradient; }

  const std::vector<ParameterGroup>& groups() const { return groups_; }
  const std::vector<StoredSlice>& slices() const { return slices_; }
  // The part of a flat buffer of this store's length that belongs to a slice, in its shape.
  torch::Tensor SliceOf(const torch::Tensor& flat, const StoredSlice& slice) const;

  // This rank's part of a group.
  ElementRange OwnedOf(int64_t group) const;
  int64_t state_elements() const { return elements() / shard_.count; }
  // The part of a state buffer with these elements, all of which this rank owns.
  torch::Tensor StatePart(const torch::Tensor& state, int64_t group,
                          const ElementRange& range) const;

  const torch::Tensor& values() const { return values_; }
  // State; undefined where there are none.
  const torch::Tensor& low_bits() const { return low_bits_; }
  const torch::Tensor& gradients() const { return gradients_; }
  torch::Device device() const { return values_.device(); }
  int64_t elements() const { return values_.numel(); }
  // Elements of this rank's slices, without padding.
  int64_t element_count() const;

  // A slice's master weights where this rank owns all state: fp32, or fp64 where the values are; a
  // copy for bf16 values.
  torch::Tensor Master(const StoredSlice& slice) const;
  // Sets the master weights of a slice from its element `first` on: the values, and the low bits
  // that this rank owns. `elements` is of one dimension, of any type and on any device. Threads may
  // set different elements at a time.
  void SetMaster(const StoredSlice& slice, int64_t first, const torch::Tensor& elements);

 private:
  struct Parameter {
    torch::Tensor value;
    torch::Tensor gradient;
  };

  int64_t Layout(const std::vector<GroupDeclaration>& groups);
  void Place(const ParameterDeclaration& declaration, int64_t parameter, int64_t& next);
  void MakeParameters(const std::vector<GroupDeclaration>& groups);

  StateShard shard_;
  std::vector<ParameterGroup> groups_;
  std::vector<StoredSlice> slices_;
  std::vector<int64_t> first_of_parameter_;
  torch::Tensor values_;
  torch::Tensor low_bits_;
  torch::Tensor gradients_;
  std::vector<Parameter> parameters_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_PARAMETER_STORE_H_
