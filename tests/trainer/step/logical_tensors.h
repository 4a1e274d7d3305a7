// Tensors by their names in checkpoints, assembled from the parts of all ranks.
#ifndef TRAINYARD_TESTS_TRAINER_STEP_LOGICAL_TENSORS_H_
#define TRAINYARD_TESTS_TRAINER_STEP_LOGICAL_TENSORS_H_

#include <torch/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "trainer/model/parameters/parameter_store.h"

namespace trainyard::trainer {

// Collects the parts of all ranks. Parts that several ranks have must have equal bits. Not
// thread-safe.
class LogicalTensors {
 public:
  // Returns a range of a group's elements as a flat tensor.
  using Read = std::function<torch::Tensor(int64_t group, const ElementRange&)>;

  // For each slice, adds the part that is in range_of(group), the range that this rank stores.
  void Add(const ParameterStore& store, const std::function<ElementRange(int64_t)>& range_of,
           const Read& read);

  // Returns the names of tensors whose bits differ between ranks or whose elements are incomplete.
  std::vector<std::string> Faults() const;
  const std::map<std::string, torch::Tensor>& tensors() const { return tensors_; }

 private:
  void AddPart(const StoredSlice& slice, const ElementRange& range, const torch::Tensor& elements);

  std::map<std::string, torch::Tensor> tensors_;  // NaN where unknown.
  std::vector<std::string> differing_;
};

// The largest relative L2 distance between a tensor and its reference, and the name of that tensor.
// `left_out` is the name suffix of tensors to ignore.
struct LargestDistance {
  double value = 0;
  std::string name;
};
LargestDistance DistanceOf(const LogicalTensors& tensors, const LogicalTensors& reference,
                           const std::string& left_out = "");

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_STEP_LOGICAL_TENSORS_H_
