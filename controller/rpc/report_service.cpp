#include "controller/rpc/report_service.h"

#include "controller/api/records/report.h"
#include "controller/rpc/unary.h"

namespace trainyard::controller {

grpc::ServerUnaryReactor* ReportService::GetReport(grpc::CallbackServerContext* context,
                                                   const v1::GetReportRequest* request,
                                                   v1::GetReportResponse* response) {
  return Answer({api_, context}, response, handlers::GetReport, *request);
}

}  // namespace trainyard::controller
