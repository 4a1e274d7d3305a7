#include "trainer/model/parameters/parameter_layout.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace trainyard::trainer {
namespace {

int64_t Product(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

int64_t AlignUp(int64_t elements, int64_t alignment) {
  return (elements + alignment - 1) / alignment * alignment;
}

// Returns the shape of a parameter: its slices, stacked along the first dimension.
std::vector<int64_t> StackedShape(const ParameterDeclaration& declaration) {
  std::vector<int64_t> shape = declaration.slices.front().shape;
  shape[0] = 0;
  for (const LogicalTensorSlice& slice : declaration.slices) shape[0] += slice.shape[0];
  return shape;
}

}  // namespace

LogicalTensorSlice WholeLogicalTensor(std::string name, std::vector<int64_t> shape,
                                      double init_std) {
  std::vector<int64_t> offset(shape.size(), 0);
  return {.name = std::move(name),
          .global_shape = shape,
          .offset = std::move(offset),
          .shape = shape,
          .init_std = init_std};
}

LogicalTensorSlice LogicalVector(std::string name, int64_t width, double initial_value) {
  LogicalTensorSlice vector = WholeLogicalTensor(std::move(name), {width}, 0);
  vector.initial_value = initial_value;
  return vector;
}

LogicalTensorSlice RowsOf(LogicalTensorSlice whole, int64_t first, int64_t rows) {
  whole.offset[0] = first;
  whole.shape[0] = rows;
  return whole;
}

LogicalTensorSlice RowsOfLogicalTensor(std::string name, std::vector<int64_t> shape, int64_t first,
                                       int64_t rows, double init_std) {
  return RowsOf(WholeLogicalTensor(std::move(name), std::move(shape), init_std), first, rows);
}

LogicalTensorSlice ColumnsOfLogicalTensor(std::string name, std::vector<int64_t> shape,
                                          int64_t first, int64_t columns, double init_std) {
  LogicalTensorSlice slice = WholeLogicalTensor(std::move(name), std::move(shape), init_std);
  slice.offset[1] = first;
  slice.shape[1] = columns;
  return slice;
}

void Append(std::vector<ParameterDeclaration> more, std::vector<ParameterDeclaration>& all) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

ElementRange Intersect(const ElementRange& a, const ElementRange& b) {
  const int64_t first = std::max(a.first, b.first);
  return {first, std::max<int64_t>(std::min(a.end(), b.end()) - first, 0)};
}

std::vector<ElementRange> RangesOf(const std::vector<StoredSlice>& slices, int64_t group,
                                   const std::function<bool(const LogicalTensorSlice&)>& takes) {
  std::vector<ElementRange> ranges;
  bool follows = false;  // True if the range can be extended: the preceding slice was accepted.
  for (const StoredSlice& slice : slices) {
    if (slice.group != group) continue;
    const bool is_taken = takes(slice.logical);
    if (is_taken && follows) {
      ranges.back().length = slice.range.end() - ranges.back().first;
    } else if (is_taken) {
      ranges.push_back(slice.range);
    }
    follows = is_taken;
  }
  return ranges;
}

ParameterLayout::ParameterLayout(const std::vector<GroupDeclaration>& groups,
                                 const PerKind<int64_t>& parts) {
  int64_t next = 0, before = 0;  // Next free element, and index of the group's first parameter.
  for (const GroupDeclaration& declared : groups) {
    const auto count = static_cast<int64_t>(declared.parameters.size());
    parameters_.resize(before + count);
    groups_.push_back({.name = declared.name, .kind = declared.kind, .all = {next, 0}});
    for (const bool decays : {true, false}) {
      const int64_t first = next;
      for (int64_t i = 0; i < count; ++i) {
        if (declared.parameters[i].decays == decays) {
          Place(declared.parameters[i], before + i, next);
        }
      }
      (decays ? groups_.back().decaying : groups_.back().constant) = {first, next - first};
    }
    // Aligns the beginning of each of the group's equal parts, and therefore also of the next
    // group, to a multiple of kAlignment.
    const int64_t first = groups_.back().all.first;
    next = first + AlignUp(next - first, kAlignment * parts.of(declared.kind));
    groups_.back().all.length = next - first;
    groups_.back().counted =
        RangesOf(slices_, static_cast<int64_t>(groups_.size()) - 1,
                 [](const LogicalTensorSlice& slice) { return slice.is_first_holder; });
    before += count;
  }
  elements_ = next;
}

void ParameterLayout::Place(const ParameterDeclaration& declaration, int64_t parameter,
                            int64_t& next) {
  const auto group = static_cast<int64_t>(groups_.size()) - 1;
  const int64_t first = next;
  for (const LogicalTensorSlice& slice : declaration.slices) {
    const ElementRange range = {next, Product(slice.shape)};
    slices_.push_back({slice, range, group});
    next = range.end();
  }
  parameters_[parameter] = {{first, next - first}, StackedShape(declaration), group};
  next = AlignUp(next, kAlignment);
}

ElementRange ParameterLayout::PartOf(int64_t group, const Shard& shard) const {
  const ElementRange& all = groups_[group].all;
  const int64_t length = all.length / shard.count;
  return {all.first + shard.index * length, length};
}

}  // namespace trainyard::trainer
