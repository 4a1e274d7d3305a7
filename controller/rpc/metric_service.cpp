#include "controller/rpc/metric_service.h"

#include "controller/api/records/data_report.h"
#include "controller/api/records/experts.h"
#include "controller/api/records/loss_curve.h"
#include "controller/api/records/series.h"
#include "controller/rpc/unary.h"

namespace trainyard::controller {

grpc::ServerUnaryReactor* MetricService::GetSeries(grpc::CallbackServerContext* context,
                                                   const v1::GetSeriesRequest* request,
                                                   v1::GetSeriesResponse* response) {
  return Answer({api_, context}, response, handlers::GetSeries, *request);
}

grpc::ServerUnaryReactor* MetricService::ListKeys(grpc::CallbackServerContext* context,
                                                  const v1::ListKeysRequest* request,
                                                  v1::ListKeysResponse* response) {
  return Answer({api_, context}, response, handlers::ListKeys, *request);
}

grpc::ServerUnaryReactor* MetricService::GetLossReport(grpc::CallbackServerContext* context,
                                                       const v1::GetLossReportRequest* request,
                                                       v1::GetLossReportResponse* response) {
  return Answer({api_, context}, response, handlers::GetLossReport, *request);
}

grpc::ServerUnaryReactor* MetricService::GetExperts(grpc::CallbackServerContext* context,
                                                    const v1::GetExpertsRequest* request,
                                                    v1::GetExpertsResponse* response) {
  return Answer({api_, context}, response, handlers::GetExperts, *request);
}

grpc::ServerUnaryReactor* MetricService::GetDataReport(grpc::CallbackServerContext* context,
                                                       const v1::GetDataReportRequest* request,
                                                       v1::GetDataReportResponse* response) {
  return Answer({api_, context}, response, handlers::GetDataReport, *request);
}

}  // namespace trainyard::controller
