// Answers in formats other than JSON: series as CSV, and output as lines.
#ifndef TRAINYARD_CONTROLLER_HTTP_PLAIN_ANSWERS_H_
#define TRAINYARD_CONTROLLER_HTTP_PLAIN_ANSWERS_H_

#include "controller/http/exchange.h"
#include "trainyard/v1/log_service.pb.h"
#include "trainyard/v1/metric_service.pb.h"

namespace trainyard::controller::http {

// Returns one row per bucket and key (RFC 4180). Control characters in keys are replaced by visible
// escapes.
Response SeriesCsv(const v1::GetSeriesResponse& response);

// Returns only the lines. Because jobs write them, they may contain control characters. Without
// `raw`, these are replaced by visible escapes, and a terminal may display the lines. With `raw`,
// the lines are meant for files, and neither terminals nor browsers may display them.
Response LogLines(const v1::ReadLogPageResponse& page, bool raw);

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_PLAIN_ANSWERS_H_
