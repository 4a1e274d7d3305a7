// The report of a standby, as the leader reads it from the store.
#ifndef TRAINYARD_CONTROLLER_CORE_SUPPORT_STANDBY_REPORT_H_
#define TRAINYARD_CONTROLLER_CORE_SUPPORT_STANDBY_REPORT_H_

#include <cstdint>
#include <string>

namespace trainyard::controller {

struct StandbyReport {
  std::string address;
  std::string version;      // Release of its program.
  int64_t reported_ms = 0;  // Time since its last report, by the clock of the store.
  // Number of the last event that it has applied in advance; 0 if it applies none.
  int64_t position = 0;
  // The last report is recent, so the standby can take over.
  bool is_ready = false;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SUPPORT_STANDBY_REPORT_H_
