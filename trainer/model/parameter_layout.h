// Places of a rank's parameters in flat buffers: pure, no memory of any device.
#ifndef TRAINYARD_TRAINER_MODEL_PARAMETER_LAYOUT_H_
#define TRAINYARD_TRAINER_MODEL_PARAMETER_LAYOUT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace trainyard::trainer {

// A tensor with its name and shape in checkpoints and on Hugging Face, and this rank's slice of it.
struct LogicalTensorSlice {
  std::string name;                   // Such as model.layers.0.self_attn.q_proj.weight.
  std::vector<int64_t> global_shape;  // Of the whole tensor, the same for every layout.
  std::vector<int64_t> offset;        // Of the slice; one entry a dimension.
  std::vector<int64_t> shape;         // Of the slice.
  double init_std = 0;                // Normal initialisation; 0: all have initial_value.
  double initial_value = 1;
  // Of the tensor-parallel ranks and pipeline stages that hold these elements, one is the first: it
  // alone counts them in norms and stores them.
  bool is_first_holder = true;
  // Each tensor-parallel rank that holds these elements has a part of their gradient.
  bool has_partial_gradient = false;

  bool IsWhole() const { return shape == global_shape; }
};

// A slice that is the whole tensor.
LogicalTensorSlice WholeLogicalTensor(std::string name, std::vector<int64_t> shape,
                                      double init_std);
// A vector that begins with this value everywhere.
LogicalTensorSlice LogicalVector(std::string name, int64_t width, double initial_value);
// Rows [first, first + rows) of a whole tensor.
LogicalTensorSlice RowsOf(LogicalTensorSlice whole, int64_t first, int64_t rows);
// The same of a matrix of this shape.
LogicalTensorSlice RowsOfLogicalTensor(std::string name, std::vector<int64_t> shape, int64_t first,
                                       int64_t rows, double init_std);
// Columns [first, first + columns) of a matrix of this shape.
LogicalTensorSlice ColumnsOfLogicalTensor(std::string name, std::vector<int64_t> shape,
                                          int64_t first, int64_t columns, double init_std);

// One tensor that the model computes with: logical slices stacked along the first dimension, so
// that matrices which share an input are one matrix product.
struct ParameterDeclaration {
  std::vector<LogicalTensorSlice> slices;
  bool decays = false;  // Weight decay applies.
};

// Parameters whose gradients are complete at the same time: a block, the embedding, the head.
struct GroupDeclaration {
  std::string name;  // Of its place in the model, the same for every layout.
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

// Ranges of the slices of a group for which `takes` is true; those with nothing but padding between
// them are one. slices: in the order of the flat buffers.
std::vector<ElementRange> RangesOf(const std::vector<StoredSlice>& slices, int64_t group,
                                   const std::function<bool(const LogicalTensorSlice&)>& takes);

// Part `index` of `count` equal parts.
struct Shard {
  int64_t index = 0;
  int64_t count = 1;
};

// One after the other in the flat buffers, each with its decaying parameters first.
struct ParameterGroup {
  std::string name;
  ElementRange all;
  ElementRange decaying;
  ElementRange constant;              // Parameters that do not decay.
  std::vector<ElementRange> counted;  // Elements that this rank is the first holder of.
};

// Each parameter begins at a multiple of kAlignment elements, and so does each part of a group. The
// padding between stays zero and is never saved. Parameters are numbered in the order of their
// declaration.
class ParameterLayout {
 public:
  static constexpr int64_t kAlignment = 64;

  // The groups are in the order of the backward pass. parts: every group can be cut in so many
  // equal parts, and in any divisor of them.
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

  // A part of a group; shard.count divides the layout's parts.
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
