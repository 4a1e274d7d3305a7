// The time of an answer. All ages that are shown for it are relative to this time.
#ifndef TRAINYARD_CLI_OUTPUT_ANSWERED_AT_H_
#define TRAINYARD_CLI_OUTPUT_ANSWERED_AT_H_

#include "cli/output/console.h"

namespace trainyard::cli {

// Returns the time of the answer by the controller's clock, so that ages do not depend on the clock
// of this machine. A controller without the field as_of_ms does not send it; the clock of this
// machine is then used.
template <typename Response>
Timestamp AnsweredAt(const Response& response, const Console& console) {
  return response.as_of_ms() > 0 ? response.as_of_ms() : console.Now();
}

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_ANSWERED_AT_H_
