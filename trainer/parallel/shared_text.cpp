#include "trainer/parallel/shared_text.h"

#include <algorithm>
#include <cstdint>

namespace trainyard::trainer {

std::string SharedText(Communicator& group, const std::string& mine, torch::Device device) {
  const std::string text = mine.substr(0, kSharedTextBytes);
  const auto bytes = static_cast<int64_t>(kSharedTextBytes);
  torch::Tensor row = torch::zeros({1, bytes}, torch::kUInt8);
  std::copy(text.begin(), text.end(), row.data_ptr<uint8_t>());
  const torch::Tensor all = torch::empty({group.size(), bytes}, row.options().device(device));
  group.AllGather(all, row.to(device)).WaitOnHost();
  const torch::Tensor read = all.cpu();
  for (int64_t member = 0; member < group.size(); ++member) {
    const auto* const begin = read.data_ptr<uint8_t>() + member * bytes;
    const auto* const end = std::find(begin, begin + bytes, 0);
    if (end != begin) return {begin, end};
  }
  return "";
}

}  // namespace trainyard::trainer
