// The gRPC service for reports on the ledgers of all jobs.
#ifndef TRAINYARD_CONTROLLER_RPC_REPORT_SERVICE_H_
#define TRAINYARD_CONTROLLER_RPC_REPORT_SERVICE_H_

#include "controller/api/context/api.h"
#include "trainyard/v1/report_service.grpc.pb.h"

namespace trainyard::controller {

class ReportService final : public v1::ReportService::CallbackService {
 public:
  // `api` must outlive every call.
  explicit ReportService(const Api& api) : api_(api) {}

  grpc::ServerUnaryReactor* GetReport(grpc::CallbackServerContext* context,
                                      const v1::GetReportRequest* request,
                                      v1::GetReportResponse* response) override;

 private:
  const Api& api_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_REPORT_SERVICE_H_
