// The request handler for the time ledger of several jobs. Error codes: report_service.proto.
#ifndef TRAINYARD_CONTROLLER_API_RECORDS_REPORT_H_
#define TRAINYARD_CONTROLLER_API_RECORDS_REPORT_H_

#include "controller/api/context/api.h"
#include "trainyard/v1/report_service.pb.h"

namespace trainyard::controller::handlers {

void GetReport(const Api& api, const Principal& principal, v1::GetReportRequest request,
               Reply<v1::GetReportResponse> reply);

}  // namespace trainyard::controller::handlers

#endif  // TRAINYARD_CONTROLLER_API_RECORDS_REPORT_H_
