// Reads the stored report of a data set. Error codes: metric_service.proto.
#ifndef TRAINYARD_CONTROLLER_API_RECORDS_DATA_REPORT_H_
#define TRAINYARD_CONTROLLER_API_RECORDS_DATA_REPORT_H_

#include "controller/api/context/api.h"
#include "trainyard/v1/metric_service.pb.h"

namespace trainyard::controller::handlers {

void GetDataReport(const Api& api, const Principal& principal,
                   const v1::GetDataReportRequest& request, Reply<v1::GetDataReportResponse> reply);

}  // namespace trainyard::controller::handlers

#endif  // TRAINYARD_CONTROLLER_API_RECORDS_DATA_REPORT_H_
