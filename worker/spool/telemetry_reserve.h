// Reserves disk space beyond the end of ranks' telemetry files, so that ranks can still write
// telemetry when the disk is full. Telemetry is never dropped, and once a rank has ended nobody can
// write it later.
#ifndef TRAINYARD_WORKER_SPOOL_TELEMETRY_RESERVE_H_
#define TRAINYARD_WORKER_SPOOL_TELEMETRY_RESERVE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proto/support/guarded_path.h"

namespace trainyard::worker {

// About 300 records. The file's size does not change.
inline constexpr int64_t kTelemetryReserve = 128 << 10;

// Creates the telemetry file of a rank that is about to start and reserves its first space. Best
// effort: a node whose disk is too full for this gets no new ranks. Any thread.
void ReserveFirstTelemetry(const GuardedPath& run_dir);

// Used by one thread.
class TelemetryReserve {
 public:
  // Reserves more space for each file that has used half of its reserve: one system call per file,
  // more only when a reservation is due. Forgets all other files. Best effort, retried with each
  // call.
  void Extend(const std::vector<GuardedPath>& files);

 private:
  // End of the reserved space, by path.
  std::map<std::string, int64_t> reserved_until_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_SPOOL_TELEMETRY_RESERVE_H_
