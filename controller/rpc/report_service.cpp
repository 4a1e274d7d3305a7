#include "controller/rpc/report_service.h"

#include "controller/api/report.h"
#include "controller/rpc/unary.h"

namespace trainyard::controller {

grpc::ServerUnaryReactor* ReportService::GetReport(grpc::CallbackServerContext* context,
                                                   const v1::GetReportRequest* request,
                                                   v1::GetReportResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::GetReport(api_, *request, FinishWith(reactor, response));
  return reactor;
}

}  // namespace trainyard::controller
