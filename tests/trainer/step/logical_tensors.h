// Tensors with their names in checkpoints, assembled from the parts of all ranks.
#ifndef TRAINYARD_TESTS_TRAINER_STEP_LOGICAL_TENSORS_H_
#define TRAINYARD_TESTS_TRAINER_STEP_LOGICAL_TENSORS_H_

#include <torch/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "trainer/model/parameter_store.h"

namespace trainyard::trainer {

// Parts held by several ranks must have the same bits. One thread at a time.
class LogicalTensors {
 public:
  // Elements of a range of a group, flat.
  using Read = std::function<torch::Tensor(int64_t group, const ElementRange&)>;

  // Adds the rank's part of each slice within `range_of(group)`.
  void Add(const ParameterStore& store, const std::function<ElementRange(int64_t)>& range_of,
           const Read& read);

  // Names of tensors that have different bits on some ranks or lack elements.
  std::vector<std::string> Faults() const;
  const std::map<std::string, torch::Tensor>& tensors() const { return tensors_; }

 private:
  void AddPart(const StoredSlice& slice, const ElementRange& range, const torch::Tensor& elements);

  std::map<std::string, torch::Tensor> tensors_;  // NaN where unknown.
  std::vector<std::string> differing_;
};

// The largest relative L2 distance of a tensor from its reference, and that tensor's name.
// left_out: name suffix of tensors to ignore.
struct LargestDistance {
  double value = 0;
  std::string name;
};
LargestDistance DistanceOf(const LogicalTensors& tensors, const LogicalTensors& reference,
                           const std::string& left_out = "");

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_STEP_LOGICAL_TENSORS_H_
