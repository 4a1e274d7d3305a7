// The leadership of this controller, as far as request handlers hand it over.
#ifndef TRAINYARD_CONTROLLER_API_CONTEXT_HAND_OVER_SEAT_H_
#define TRAINYARD_CONTROLLER_API_CONTEXT_HAND_OVER_SEAT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/core/support/standby_report.h"

namespace trainyard::controller {

// Thread-safe. Each function except Finish may wait a few seconds for the database, so call it on a
// reader thread.
class HandOverSeat {
 public:
  virtual ~HandOverSeat() = default;

  // Returns the standbys that have reported recently.
  virtual absl::StatusOr<std::vector<StandbyReport>> Standbys() = 0;
  // Names the successor. FAILED_PRECONDITION: a hand-over has begun already.
  virtual absl::Status Begin(const std::string& successor) = 0;
  // Withdraws a hand-over that has begun.
  virtual void Cancel() = 0;
  // Ends the service and then the process, on another thread. Returns at once.
  virtual void Finish() = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_CONTEXT_HAND_OVER_SEAT_H_
