#include "trainer/checkpoint_tools/hugging_face/tensor_check.h"

#include <set>

namespace trainyard::trainer {
namespace {

// Returns text such as "lacks a, b, c and 5 more"; "" if `names` is empty.
std::string ListText(const std::string& action, const std::vector<std::string>& names) {
  constexpr size_t kShown = 3;
  std::string text;
  for (size_t i = 0; i < names.size() && i < kShown; ++i) text += (i == 0 ? " " : ", ") + names[i];
  if (names.size() > kShown) text += " and " + std::to_string(names.size() - kShown) + " more";
  return text.empty() ? "" : action + text;
}

}  // namespace

std::string TensorFaults(const std::vector<TensorShape>& expected,
                         const std::map<std::string, Extents>& there) {
  std::vector<std::string> missing, wrong, unexpected;
  std::set<std::string> known;
  for (const TensorShape& tensor : expected) {
    known.insert(tensor.name);
    const auto found = there.find(tensor.name);
    if (found == there.end()) {
      missing.push_back(tensor.name);
    } else if (found->second != tensor.shape) {
      wrong.push_back(tensor.name + " " + ToText(found->second) + " instead of " +
                      ToText(tensor.shape));
    }
  }
  for (const auto& [name, _] : there) {
    if (!known.contains(name)) unexpected.push_back(name);
  }
  std::string text;
  for (const std::string& part :
       {ListText("lacks tensors:", missing), ListText("has tensors of other shapes:", wrong),
        ListText("has tensors that the model lacks:", unexpected)}) {
    if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
  }
  return text;
}

}  // namespace trainyard::trainer
