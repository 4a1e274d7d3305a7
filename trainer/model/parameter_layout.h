// Positions of a rank's parameters in flat buffers. Pure; uses no device memory.
#ifndef TRAINYARD_TRAINER_MODEL_PARAMETER_LAYOUT_H_
#define TRAINYARD_TRAINER_MODEL_PARAMETER_LAYOUT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace trainyard::trainer {

// This rank's slice of a tensor, with the tensor's name and shape in checkpoints and on Hugging
// Face.
struct LogicalTensorSlice {
  std::string name;                   // For example model.layers.0.self_attn.q_proj.weight.
  std::vector<int64_t> global_shape;  // Shape of the whole tensor, the same in every layout.
  std::vector<int64_t> offset;        // Offset of the slice; one entry per dimension.
  std::vector<int64_t> shape;         // Shape of the slice.
  double init_std = 0;                // Normal initialisation; 0: constant initial_value.
  double initial_value = 1;
  // Among the tensor-parallel ranks and pipeline stages with these elements, only the first holder
  // counts them in norms and stores them.
  bool is_first_holder = true;
  // Each tensor-parallel rank with these elements has a part of their gradient.
  bool has_partial_gradient = false;

  bool IsWhole() const { return shape == global_shape; }
};

// A slice that covers the whole tensor.
LogicalTensorSlice WholeLogicalTensor(std::string name, std::vector<int64_t> shape,
                                      double init_std);
// A vector with this initial value in every element.
LogicalTensorSlice LogicalVector(std::string name, int64_t width, double initial_value);
// Rows [first, first + rows) of a whole tensor.
LogicalTensorSlice RowsOf(LogicalTensorSlice whole, int64_t first, int64_t rows);
// Rows of a matrix of this shape.
LogicalTensorSlice RowsOfLogicalTensor(std::string name, std::vector<int64_t> shape, int64_t first,
                                       int64_t rows, double init_std);
// Columns [first, first + columns) of a matrix of this shape.
LogicalTensorSlice ColumnsOfLogicalTensor(std::string name, std::vector<int64_t> shape,
                                          int64_t first, int64_t columns, double init_std);

// One tensor used in the model's computation: logical slices stacked along the first dimension, so
// that matrices with a common input need one matrix product.
struct ParameterDeclaration {
  std::vector<LogicalTensorSlice> slices;
  bool decays = false;  // Weight decay applies.
};

// Parameters whose gradients are completed together: a block, the embedding, the head.
struct GroupDeclaration {
  std::string name;  // Place in the model, the same in every layout.
  std::vector<ParameterDeclaration> parameters;
};

// Elements [first, first + length) of the flat buffers.
struct ElementRange {
  int64_t first = 0;
  int64_t length = 0;

  int64_t end() const { return first + length; }
};

// The common elements; `length` is 0 if there are none.
ElementRange Intersect(const ElementRange& a, const ElementRange& b);

// Position of a logical slice in the flat buffers.
struct StoredSlice {
  LogicalTensorSlice logical;
  ElementRange range;
  int64_t group = 0;
};

// Ranges of the group's slices accepted by `takes`. Slices separated only by padding share one
// range. slices: in the order of the flat buffers.
std::vector<ElementRange> RangesOf(const std::vector<StoredSlice>& slices, int64_t group,
                                   const std::function<bool(const LogicalTensorSlice&)>& takes);

// Part `index` of `count` equal parts.
struct Shard {
  int64_t index = 0;
  int64_t count = 1;
};

// Groups are consecutive in the flat buffers, each with its decaying parameters first.
struct ParameterGroup {
  std::string name;
  ElementRange all;
  ElementRange decaying;
  ElementRange constant;              // Parameters without weight decay.
  std::vector<ElementRange> counted;  // Elements for which this rank is first holder.
};

// Each parameter and each part of a group begins at a multiple of kAlignment elements. The padding
// stays zero and is never saved. Parameters are numbered in the order of declaration.
class ParameterLayout {
 public:
  static constexpr int64_t kAlignment = 64;

  // groups: in the order of the backward pass. parts: every group can be split into this many equal
  // parts, and into any divisor of it.
  ParameterLayout(const std::vector<GroupDeclaration>& groups, int64_t parts);

  struct Parameter {
    ElementRange range;
    std::vector<int64_t> shape;
    int64_t group = 0;
  };

  int64_t elements() const { return elements_; }
  const std::vector<ParameterGroup>& groups() const { return groups_; }
  const std::vector<StoredSlice>& slices() const { return slices_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }

  // A part of a group; shard.count must divide `parts`.
  ElementRange PartOf(int64_t group, const Shard& shard) const;

 private:
  void Place(const ParameterDeclaration& declaration, int64_t parameter, int64_t& next);

  std::vector<ParameterGroup> groups_;
  std::vector<StoredSlice> slices_;
  std::vector<Parameter> parameters_;
  int64_t elements_ = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_PARAMETER_LAYOUT_H_
