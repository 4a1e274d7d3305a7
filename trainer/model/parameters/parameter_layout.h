// Computes the positions of a rank's parameters in flat buffers. Allocates no device memory.
#ifndef TRAINYARD_TRAINER_MODEL_PARAMETERS_PARAMETER_LAYOUT_H_
#define TRAINYARD_TRAINER_MODEL_PARAMETERS_PARAMETER_LAYOUT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trainer/parallel/parameter_kind.h"

namespace trainyard::trainer {

// This rank's slice of a logical tensor. A logical tensor has the name and shape that are used in
// checkpoints and on Hugging Face.
struct LogicalTensorSlice {
  std::string name;                   // For example model.layers.0.self_attn.q_proj.weight.
  std::vector<int64_t> global_shape;  // Shape of the whole tensor; equal for every layout.
  std::vector<int64_t> offset;        // Offset of the slice, one entry per dimension.
  std::vector<int64_t> shape;         // Shape of the slice.
  double init_std = 0;                // Standard deviation. 0: all elements are initial_value.
  double initial_value = 1;
  // True on one of the tensor-parallel ranks and pipeline stages that have these elements. Only
  // this first holder counts them in norms and stores them in checkpoints.
  bool is_first_holder = true;
  // True if several tensor-parallel ranks have these elements and each computes only a part of
  // their gradient, so that the parts must be summed.
  bool has_partial_gradient = false;

  bool IsWhole() const { return shape == global_shape; }
};

// Returns a slice that covers the whole tensor.
LogicalTensorSlice WholeLogicalTensor(std::string name, std::vector<int64_t> shape,
                                      double init_std);
// Returns a vector whose elements are all initialized to initial_value.
LogicalTensorSlice LogicalVector(std::string name, int64_t width, double initial_value);
// Returns rows [first, first + rows) of a whole tensor.
LogicalTensorSlice RowsOf(LogicalTensorSlice whole, int64_t first, int64_t rows);
// Returns rows [first, first + rows) of a matrix of this shape.
LogicalTensorSlice RowsOfLogicalTensor(std::string name, std::vector<int64_t> shape, int64_t first,
                                       int64_t rows, double init_std);
// Returns columns [first, first + columns) of a matrix of this shape.
LogicalTensorSlice ColumnsOfLogicalTensor(std::string name, std::vector<int64_t> shape,
                                          int64_t first, int64_t columns, double init_std);

// A tensor with which the model computes. It consists of logical slices that are stacked along the
// first dimension, so that matrices with the same input need only one matrix product.
struct ParameterDeclaration {
  std::vector<LogicalTensorSlice> slices;
  bool decays = false;  // Weight decay applies.
};

// Appends the declarations in `more` to `all`.
void Append(std::vector<ParameterDeclaration> more, std::vector<ParameterDeclaration>& all);

// Parameters whose gradients become complete at the same time, such as those of one block.
struct GroupDeclaration {
  std::string name;  // Place in the model; equal for every layout.
  std::vector<ParameterDeclaration> parameters;
  ParameterKind kind = ParameterKind::kDense;
};

// Elements [first, first + length) of the flat buffers.
struct ElementRange {
  int64_t first = 0;
  int64_t length = 0;

  int64_t end() const { return first + length; }
};

// Returns the elements that both ranges contain; `length` is 0 if there are none.
ElementRange Intersect(const ElementRange& a, const ElementRange& b);

// The position of a logical slice in the flat buffers.
struct StoredSlice {
  LogicalTensorSlice logical;
  ElementRange range;
  int64_t group = 0;
};

// Returns the ranges of those slices of the group for which `takes` is true. Slices that are
// separated only by padding form one range. `slices` must be in the order of the flat buffers.
std::vector<ElementRange> RangesOf(const std::vector<StoredSlice>& slices, int64_t group,
                                   const std::function<bool(const LogicalTensorSlice&)>& takes);

// One value for each kind of parameters.
template <typename T>
struct PerKind {
  T dense = {};
  T expert = {};

  const T& of(ParameterKind kind) const { return kind == ParameterKind::kExpert ? expert : dense; }
};

// Part number `index` of `count` equal parts. Parts are counted from 0.
struct Shard {
  int64_t index = 0;
  int64_t count = 1;
};

// The range of a group in the flat buffers. In each group, the parameters with weight decay come
// first.
struct ParameterGroup {
  std::string name;
  ParameterKind kind = ParameterKind::kDense;
  ElementRange all;
  ElementRange decaying;
  ElementRange constant;              // Parameters without weight decay.
  std::vector<ElementRange> counted;  // Elements of which this rank is the first holder.
};

// The layout of a rank's parameters. Each parameter, and each part of a group, begins at a multiple
// of kAlignment elements. The padding is always zero and is never saved. Parameters are numbered in
// the order of their declaration.
class ParameterLayout {
 public:
  static constexpr int64_t kAlignment = 64;

  // `groups` must be in the order of the backward pass. Every group can be divided into as many
  // equal parts as `parts` specifies for its kind, or into any divisor of that number.
  ParameterLayout(const std::vector<GroupDeclaration>& groups, const PerKind<int64_t>& parts);

  struct Parameter {
    ElementRange range;
    std::vector<int64_t> shape;
    int64_t group = 0;
  };

  int64_t elements() const { return elements_; }
  const std::vector<ParameterGroup>& groups() const { return groups_; }
  const std::vector<StoredSlice>& slices() const { return slices_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }

  // Returns a part of a group. shard.count must divide `parts`.
  ElementRange PartOf(int64_t group, const Shard& shard) const;

 private:
  void Place(const ParameterDeclaration& declaration, int64_t parameter, int64_t& next);

  std::vector<ParameterGroup> groups_;
  std::vector<StoredSlice> slices_;
  std::vector<Parameter> parameters_;
  int64_t elements_ = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_PARAMETERS_PARAMETER_LAYOUT_H_
