// Disk space behind the end of ranks' telemetry, so that they can write it once the disk is full:
// it is never dropped, and a rank that ends leaves nothing to write it later.
#ifndef TRAINYARD_WORKER_SPOOL_TELEMETRY_RESERVE_H_
#define TRAINYARD_WORKER_SPOOL_TELEMETRY_RESERVE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proto/support/guarded_path.h"

namespace trainyard::worker {

// Some 300 records. The file's size stays as it is.
inline constexpr int64_t kTelemetryReserve = 128 << 10;

// Makes the telemetry file of a rank that is to start and reserves its first space. Best effort: a
// disk that is too full for it takes no ranks anyway. Any thread.
void ReserveFirstTelemetry(const GuardedPath& run_dir);

// One thread.
class TelemetryReserve {
 public:
  // Reserves more behind each file of which half of the reserve is used: a system call a file, two
  // when it is due. Forgets all other files. Best effort, and tried again with each call.
  void Extend(const std::vector<GuardedPath>& files);

 private:
  // By path: the end of what is reserved.
  std::map<std::string, int64_t> reserved_until_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_SPOOL_TELEMETRY_RESERVE_H_
