#include "trainer/checkpoint/rolled_back.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

bool ParseCount(std::string_view text, int64_t* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() && *value >= 0;
}

}  // namespace

std::vector<RolledBack> ParseRolledBack(const std::string& text) {
  std::vector<RolledBack> rollbacks;
  for (size_t begin = 0; !text.empty() && begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = std::string_view(text).substr(begin, end - begin);
    const size_t colon = item.find(':');
    RolledBack& rollback = rollbacks.emplace_back();
    const bool is_pair = colon != std::string_view::npos &&
                         ParseCount(item.substr(0, colon), &rollback.attempt) &&
                         ParseCount(item.substr(colon + 1), &rollback.step);
    if (!is_pair) {
      throw TrainerError(ExitCode::kBadConfig, "TRAINYARD_ROLLED_BACK is \"" + text +
                                                   "\"; it must look like 2:1500,3:1200");
    }
    begin = end + 1;
  }
  return rollbacks;
}

bool IsRolledBack(const std::vector<RolledBack>& rollbacks, int64_t attempt, int64_t step) {
  return std::any_of(rollbacks.begin(), rollbacks.end(), [=](const RolledBack& rollback) {
    return attempt <= rollback.attempt && step >= rollback.step;
  });
}

}  // namespace trainyard::trainer
