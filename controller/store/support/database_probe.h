// Reads the facts about the database server of the stores: version, durability, replicas, and the
// controllers that wait to take over.
#ifndef TRAINYARD_CONTROLLER_STORE_SUPPORT_DATABASE_PROBE_H_
#define TRAINYARD_CONTROLLER_STORE_SUPPORT_DATABASE_PROBE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller {

struct DatabaseFacts {
  v1::DatabaseStatus database;
  std::vector<v1::StandbyController> standbys;  // Sorted by address.
};

// Used by one thread.
class DatabaseProbe {
 public:
  virtual ~DatabaseProbe() = default;

  // Takes at most a few seconds. `now_ms` is the time by the clock of this controller; all times in
  // the facts are by this clock. After an error, call again.
  virtual absl::StatusOr<DatabaseFacts> Read(int64_t now_ms) = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SUPPORT_DATABASE_PROBE_H_
