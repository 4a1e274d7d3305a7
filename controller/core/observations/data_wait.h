// The time for which the steps of a metrics record waited for data. The ledger has this time as a
// phase of its own.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_DATA_WAIT_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_DATA_WAIT_H_

#include <algorithm>
#include <cstdint>

#include "proto/contract/telemetry_keys.h"
#include "trainyard/v1/telemetry.pb.h"

namespace trainyard::controller {

// Returns milliseconds, at most a day. The record is untrusted input.
inline int64_t DataWaitMs(const v1::MetricsRecord& metrics) {
  constexpr double kDaySeconds = 86'400;
  const auto wait = metrics.values().find(telemetry::kDataStallSeconds);
  if (wait == metrics.values().end() || !(wait->second > 0)) return 0;
  return static_cast<int64_t>(std::min(wait->second, kDaySeconds) * 1000);
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_DATA_WAIT_H_
