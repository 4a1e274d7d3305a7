// Responses in formats other than JSON: series as CSV, and job output as lines of text.
#ifndef TRAINYARD_CONTROLLER_HTTP_PLAIN_ANSWERS_H_
#define TRAINYARD_CONTROLLER_HTTP_PLAIN_ANSWERS_H_

#include "controller/http/exchange.h"
#include "trainyard/v1/log_service.pb.h"
#include "trainyard/v1/metric_service.pb.h"

namespace trainyard::controller::http {

// Returns one CSV row per bucket and key (RFC 4180). Control characters in keys are replaced by
// visible escapes.
Response SeriesCsv(const v1::GetSeriesResponse& response);

// Returns only the text of the lines. Jobs write this text, so it may contain control characters.
// Without `raw`, visible escapes replace the control characters, so that a terminal can display the
// lines safely. With `raw`, the lines are unchanged; the result is meant for files, and must not be
// displayed by terminals or browsers.
Response LogLines(const v1::ReadLogPageResponse& page, bool raw);

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_PLAIN_ANSWERS_H_
