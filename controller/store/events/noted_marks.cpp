#include "controller/store/events/noted_marks.h"

namespace trainyard::controller {
namespace {

constexpr int64_t kStoreMarksEveryMs = 1000;

}  // namespace

void NotedMarks::Note(const std::string& store, const StoreMark& mark) {
  const std::lock_guard lock(mutex_);
  marks_[store] = mark;
}

std::map<std::string, StoreMark> NotedMarks::Due(int64_t time_ms) const {
  // If the clock was set back, the marks are due as well.
  const bool is_due = !stored_ms_.has_value() || time_ms < *stored_ms_ ||
                      time_ms >= *stored_ms_ + kStoreMarksEveryMs;
  if (!is_due) return {};
  const std::lock_guard lock(mutex_);
  return marks_;
}

}  // namespace trainyard::controller
