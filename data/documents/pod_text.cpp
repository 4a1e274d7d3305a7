#include "data/documents/pod_text.h"

#include <utility>

#include "proto/support/status_macros.h"

namespace trainyard::data {

absl::StatusOr<std::string> PodTexts::Convert(const std::string& path, std::string_view pod) {
  std::unique_ptr<PodProcess> process;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) {
      process = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (process == nullptr) {
    TRAINYARD_ASSIGN_OR_RETURN(process, PodProcess::Start(path));
  }
  // After an error, the process is not used again.
  TRAINYARD_ASSIGN_OR_RETURN(std::string text, process->Convert(path, pod));
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(std::move(process));
  return text;
}

absl::StatusOr<std::string> PodTexts::Text(const std::string& path, std::string_view pod) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = texts_.find(path);
    if (found != texts_.end()) return found->second;
  }
  TRAINYARD_ASSIGN_OR_RETURN(std::string text, Convert(path, pod));
  const std::lock_guard<std::mutex> lock(mutex_);
  if (kept_bytes_ + text.size() <= kKeptBytes && texts_.emplace(path, text).second) {
    kept_bytes_ += text.size();
  }
  return text;
}

}  // namespace trainyard::data
