// Time of an answer, the reference for all ages shown from it.
#ifndef TRAINYARD_CLI_OUTPUT_ANSWERED_AT_H_
#define TRAINYARD_CLI_OUTPUT_ANSWERED_AT_H_

#include "cli/output/console.h"

namespace trainyard::cli {

// Time of the answer by the controller's clock, so that ages do not depend on this machine's clock.
// This machine's clock is used only for a controller without the field as_of_ms.
template <typename Response>
Timestamp AnsweredAt(const Response& response, const Console& console) {
  return response.as_of_ms() > 0 ? response.as_of_ms() : console.Now();
}

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_ANSWERED_AT_H_
