// The gRPC service for metric series.
#ifndef TRAINYARD_CONTROLLER_RPC_METRIC_SERVICE_H_
#define TRAINYARD_CONTROLLER_RPC_METRIC_SERVICE_H_

#include "controller/api/context/api.h"
#include "trainyard/v1/metric_service.grpc.pb.h"

namespace trainyard::controller {

class MetricService final : public v1::MetricService::CallbackService {
 public:
  // `api` must outlive every call.
  explicit MetricService(const Api& api) : api_(api) {}

  grpc::ServerUnaryReactor* GetSeries(grpc::CallbackServerContext* context,
                                      const v1::GetSeriesRequest* request,
                                      v1::GetSeriesResponse* response) override;
  grpc::ServerUnaryReactor* ListKeys(grpc::CallbackServerContext* context,
                                     const v1::ListKeysRequest* request,
                                     v1::ListKeysResponse* response) override;
  grpc::ServerUnaryReactor* GetLossReport(grpc::CallbackServerContext* context,
                                          const v1::GetLossReportRequest* request,
                                          v1::GetLossReportResponse* response) override;
  grpc::ServerUnaryReactor* GetExperts(grpc::CallbackServerContext* context,
                                       const v1::GetExpertsRequest* request,
                                       v1::GetExpertsResponse* response) override;
  grpc::ServerUnaryReactor* GetDataReport(grpc::CallbackServerContext* context,
                                          const v1::GetDataReportRequest* request,
                                          v1::GetDataReportResponse* response) override;

 private:
  const Api& api_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_METRIC_SERVICE_H_
