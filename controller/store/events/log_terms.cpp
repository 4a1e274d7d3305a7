#include "controller/store/events/log_terms.h"

#include <algorithm>
#include <iterator>
#include <random>
#include <utility>

namespace trainyard::controller {

void LogTerms::Load(std::vector<LogTerm> terms, uint64_t last_sequence) {
  const std::lock_guard lock(mutex_);
  terms_ = std::move(terms);
  last_sequence_ = last_sequence;
}

void LogTerms::Appended(uint64_t id, uint64_t last_sequence) {
  const std::lock_guard lock(mutex_);
  if (terms_.empty() || terms_.back().id != id) terms_.push_back({last_sequence_ + 1, id});
  last_sequence_ = last_sequence;
}

bool LogTerms::Begins(uint64_t id) const {
  const std::lock_guard lock(mutex_);
  return terms_.empty() || terms_.back().id != id;
}

v1::LogMark LogTerms::Newest() const {
  const std::lock_guard lock(mutex_);
  v1::LogMark mark;
  mark.set_sequence(last_sequence_);
  if (!terms_.empty()) mark.set_term(terms_.back().id);
  return mark;
}

v1::LogMark LogTerms::MarkOf(uint64_t sequence) const {
  const std::lock_guard lock(mutex_);
  v1::LogMark mark;
  mark.set_sequence(sequence);
  const auto next = std::ranges::upper_bound(terms_, sequence, {}, &LogTerm::first_sequence);
  if (next != terms_.begin()) mark.set_term(std::prev(next)->id);
  return mark;
}

bool LogTerms::Covers(const v1::LogMark& mark) const {
  const std::lock_guard lock(mutex_);
  if (mark.term() == 0) return mark.sequence() <= last_sequence_;
  const auto term = std::ranges::find(terms_, mark.term(), &LogTerm::id);
  if (term == terms_.end()) return false;
  const auto next = std::next(term);
  const uint64_t end = next == terms_.end() ? last_sequence_ : next->first_sequence - 1;
  return mark.sequence() <= end;
}

uint64_t NewTermId() {
  std::random_device random;
  // The shift is 31 instead of 32, because SQLite's integers are signed and the id must not be
  // negative.
  const uint64_t id = (uint64_t{random()} << 31) ^ random();
  return id == 0 ? 1 : id;
}

}  // namespace trainyard::controller
