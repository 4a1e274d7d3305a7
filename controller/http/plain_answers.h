// Answers other than JSON: series as CSV, output as lines.
#ifndef TRAINYARD_CONTROLLER_HTTP_PLAIN_ANSWERS_H_
#define TRAINYARD_CONTROLLER_HTTP_PLAIN_ANSWERS_H_

#include "controller/http/exchange.h"
#include "trainyard/v1/log_service.pb.h"
#include "trainyard/v1/metric_service.pb.h"

namespace trainyard::controller::http {

// One row per bucket and key (RFC 4180). Control characters in keys become visible escapes.
Response SeriesCsv(const v1::GetSeriesResponse& response);

// The lines only. They are written by jobs, so terminals may display them only without `raw`, with
// control characters as visible escapes. `raw` is for files; browsers must not display it either.
Response LogLines(const v1::ReadLogPageResponse& page, bool raw);

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_PLAIN_ANSWERS_H_
