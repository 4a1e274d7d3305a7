#include "controller/api/context/storage_health.h"

#include <algorithm>
#include <cstddef>

#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kDamageKept = 16;

// Returns the effect that failing writes to this store have on the cluster. The operator reads this
// text in the log.
const char* Consequence(StoreName store) {
  return store == StoreName::kEvents
             ? "changes are rejected, but reads work and running jobs are not affected"
             : "workers keep the data until it is stored, and running jobs are not affected";
}

}  // namespace

const char* NameOf(StoreName store) {
  switch (store) {
    case StoreName::kEvents:
      return "events";
    case StoreName::kMetrics:
      return "metrics";
    case StoreName::kLogs:
      return "logs";
  }
  return "";
}

void StorageHealth::Report(StoreName store, const absl::Status& status) {
  const std::lock_guard lock(mutex_);
  std::optional<v1::StorageProblem>& problem = problems_[static_cast<std::size_t>(store)];
  if (status.ok()) {
    if (!problem.has_value()) return;
    spdlog::info("writes of {} succeed again after failing for {} ms", NameOf(store),
                 clock_.Now() - problem->since_ms());
    problem.reset();
    return;
  }
  const std::string message(status.message());
  if (!problem.has_value()) {
    problem.emplace();
    problem->set_store(NameOf(store));
    problem->set_since_ms(clock_.Now());
  }
  if (problem->message() == message) return;
  problem->set_message(message);
  spdlog::error("cannot store {}: {}; {}; retrying until the write succeeds", NameOf(store),
                message, Consequence(store));
}

void StorageHealth::ReportDamage(StoreName store, const absl::Status& status) {
  const std::lock_guard lock(mutex_);
  const std::string message(status.message());
  const bool known = std::ranges::any_of(
      damage_, [&](const v1::StorageProblem& other) { return other.message() == message; });
  if (known || damage_.size() >= kDamageKept) return;
  v1::StorageProblem& problem = damage_.emplace_back();
  problem.set_store(NameOf(store));
  problem.set_message(message);
  problem.set_since_ms(clock_.Now());
}

bool StorageHealth::Works(StoreName store) const {
  const std::lock_guard lock(mutex_);
  const bool damaged = std::ranges::any_of(
      damage_, [&](const v1::StorageProblem& found) { return found.store() == NameOf(store); });
  return !damaged && !problems_[static_cast<std::size_t>(store)].has_value();
}

std::vector<v1::StorageProblem> StorageHealth::Problems() const {
  const std::lock_guard lock(mutex_);
  std::vector<v1::StorageProblem> found;
  for (const auto& problem : problems_) {
    if (problem.has_value()) found.push_back(*problem);
  }
  found.insert(found.end(), damage_.begin(), damage_.end());
  return found;
}

}  // namespace trainyard::controller
