// The time of a controller's answer. All ages in a command's output are relative to this time.
#ifndef TRAINYARD_CLI_OUTPUT_TERMINAL_ANSWERED_AT_H_
#define TRAINYARD_CLI_OUTPUT_TERMINAL_ANSWERED_AT_H_

#include "cli/output/terminal/console.h"

namespace trainyard::cli {

// Returns the time of the answer by the controller's clock, so that ages do not depend on this
// machine's clock. For an answer of an older controller, which has no as_of_ms, uses this machine's
// clock.
template <typename Response>
Timestamp AnsweredAt(const Response& response, const Console& console) {
  return response.as_of_ms() > 0 ? response.as_of_ms() : console.Now();
}

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_TERMINAL_ANSWERED_AT_H_
