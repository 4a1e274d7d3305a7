#include "controller/core/ledger/paused_time.h"

#include <algorithm>

namespace trainyard::controller {

int64_t PausedMs(const v1::Job& job, Timestamp begin, Timestamp now) {
  if (!job.has_pause()) return job.paused_ms();
  const Timestamp since = std::max(job.pause().time_ms(), begin);
  return job.paused_ms() + std::max<int64_t>(0, now - since);
}

}  // namespace trainyard::controller
