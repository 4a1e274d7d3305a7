// Health of the stores: writes that currently fail, and damage that was found.
#ifndef TRAINYARD_CONTROLLER_API_CONTEXT_STORAGE_HEALTH_H_
#define TRAINYARD_CONTROLLER_API_CONTEXT_STORAGE_HEALTH_H_

#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/support/clock.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller {

enum class StoreName { kEvents, kMetrics, kLogs };

inline constexpr std::array kStoreNames = {StoreName::kEvents, StoreName::kMetrics,
                                           StoreName::kLogs};

// "events", "metrics", "logs".
const char* NameOf(StoreName store);

// Thread-safe.
class StorageHealth {
 public:
  // `clock` must outlive this object.
  explicit StorageHealth(const Clock& clock) : clock_(clock) {}

  // Registers the result of the latest write to the store. Logs the first failure, each new error
  // message, and the first success afterwards.
  void Report(StoreName store, const absl::Status& status);

  // Registers damage in the store. The damage is reported until the process ends, because a backup
  // can be restored only while no controller runs.
  void ReportDamage(StoreName store, const absl::Status& status);

  // Returns false while writes to the store fail, and permanently after damage was found.
  bool Works(StoreName store) const;

  // Returns the failing writes, in the order of kStoreNames, followed by the damage.
  std::vector<v1::StorageProblem> Problems() const;

 private:
  const Clock& clock_;
  mutable std::mutex mutex_;
  // Indexed by store. Guarded by mutex_.
  std::array<std::optional<v1::StorageProblem>, kStoreNames.size()> problems_;
  // The damage that was found first; later damage is not added. Guarded by mutex_.
  std::vector<v1::StorageProblem> damage_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_CONTEXT_STORAGE_HEALTH_H_
