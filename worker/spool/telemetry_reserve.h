// Reserves disk space after the end of the ranks' telemetry files, so that ranks can write
// telemetry even when the disk is full. Telemetry is never dropped, and after the end of the rank
// no other process can write it.
#ifndef TRAINYARD_WORKER_SPOOL_TELEMETRY_RESERVE_H_
#define TRAINYARD_WORKER_SPOOL_TELEMETRY_RESERVE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proto/support/guarded_path.h"

namespace trainyard::worker {

// Space for about 300 records. Reserving the space does not change the size of the file.
inline constexpr int64_t kTelemetryReserve = 128 << 10;

// Creates the telemetry file of a rank that is about to start, and reserves its first space. Errors
// are ignored, because a node whose disk is too full for this gets no new ranks. May be called on
// any thread.
void ReserveFirstTelemetry(const GuardedPath& run_dir);

// Used by one thread.
class TelemetryReserve {
 public:
  // Reserves more space for each file that has used half of its reserve. Makes one system call per
  // file, and more only if a reservation is due. Forgets files that are not in `files`. Errors are
  // ignored; the next call tries again.
  void Extend(const std::vector<GuardedPath>& files);

 private:
  // The offset at which the reserved space of each file ends, by path.
  std::map<std::string, int64_t> reserved_until_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_SPOOL_TELEMETRY_RESERVE_H_
