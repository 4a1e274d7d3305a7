// Reads pages of output around any position in the log. Error codes: log_service.proto.
#ifndef TRAINYARD_CONTROLLER_API_RECORDS_LOG_PAGES_H_
#define TRAINYARD_CONTROLLER_API_RECORDS_LOG_PAGES_H_

#include "controller/api/context/api.h"
#include "trainyard/v1/log_service.pb.h"

namespace trainyard::controller {

namespace handlers {

void ReadLogPage(const Api& api, const Principal& principal, v1::ReadLogPageRequest request,
                 Reply<v1::ReadLogPageResponse> reply);

}  // namespace handlers

// Returns the thread pool for a query. Searches have a pool of their own, because they may take
// minutes and must not delay short queries.
ReaderPool& PoolFor(const Api& api, const LogQuery& query);

// Returns the query for the requested lines. INVALID_ARGUMENT: a field is invalid. NOT_FOUND: there
// is no such attempt or rank.
absl::StatusOr<LogQuery> ToLogQuery(const v1::Job& job, const std::vector<int>& ranks,
                                    int64_t attempt_number, const std::string& grep);

// Copies all conditions on lines except `grep`. `Request`: ReadLogsRequest or
// ReadLogPageRequest.
template <typename Request>
void SetLineConditions(const Request& request, LogQuery& query) {
  query.ignore_case = request.ignore_case();
  query.regex = request.regex();
  query.min_level = request.min_level();
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_RECORDS_LOG_PAGES_H_
