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

// Position of a logical slice in the flat buffers.
struct StoredSlice {
  LogicalTensorSlice logical;
  int64_t first = 0;  // Element of the flat buffers.
  int64_t parameter = 0;
};

// Three flat buffers of the same length: `master` (fp32; updated by the optimizer and saved in
// checkpoints), `values` (the model's type; the same memory as master for fp32) and `gradients`
// (fp32 sums over micro-batches). Parameters that decay come first, and each begins at a multiple
// of kAlignment elements; the padding between stays zero and is never saved.
class ParameterStore {
 public:
  static constexpr int64_t kAlignment = 64;

  // Allocates and initialises: values are a pure function of (seed, logical name, element). Without
  // a seed they are 0, for a checkpoint to fill.
  ParameterStore(std::vector<ParameterDeclaration> declarations, torch::ScalarType type,
                 torch::Device device, std::optional<uint64_t> seed);

  int64_t size() const { return static_cast<int64_t>(parameters_.size()); }
  // The values that the model computes with: a leaf of the autograd graph.
  const torch::Tensor& Value(int64_t parameter) const { return parameters_[parameter].value; }
  // The fp32 gradient of one parameter.
  const torch::Tensor& Gradient(int64_t parameter) const { return parameters_[parameter].gradient; }

  const std::vector<StoredSlice>& slices() const { return slices_; }
  // The part of a flat buffer of this store's length that belongs to a slice, in its shape.
  torch::Tensor SliceOf(const torch::Tensor& flat, const StoredSlice& slice) const;

  torch::Tensor& master() { return master_; }
  torch::Tensor& gradients() { return gradients_; }
  torch::Device device() const { return device_; }
  // Elements [0, decaying_elements()) of the flat buffers belong to parameters that decay.
  int64_t decaying_elements() const { return decaying_elements_; }
  // Elements of this rank's slices, without padding.
  int64_t element_count() const;

  void ZeroGradients();
  // Call after each backward pass: moves 16-bit gradients into the fp32 sums. fp32 gradients are
  // already there.
  void CollectGradients();
  // Call after the master weights have changed.
  void RefreshValues();

 private:
  struct Parameter {
    torch::Tensor value;
    torch::Tensor gradient;
  };

  int64_t Layout(const std::vector<ParameterDeclaration>& declarations);
  void Initialise(uint64_t seed);
  void MakeParameters(const std::vector<ParameterDeclaration>& declarations);

  torch::ScalarType type_;
  torch::Device device_;
  std::vector<StoredSlice> slices_;
  std::vector<int64_t> first_of_parameter_;
  int64_t decaying_elements_ = 0;
  torch::Tensor master_;
  torch::Tensor values_;
  torch::Tensor gradients_;
  std::vector<Parameter> parameters_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_PARAMETER_STORE_H_
