#include "controller/rpc/metric_service.h"

#include "controller/api/loss_curve.h"
#include "controller/api/series.h"
#include "controller/rpc/unary.h"

namespace trainyard::controller {

grpc::ServerUnaryReactor* MetricService::GetSeries(grpc::CallbackServerContext* context,
                                                   const v1::GetSeriesRequest* request,
                                                   v1::GetSeriesResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::GetSeries(api_, *request, FinishWith(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* MetricService::ListKeys(grpc::CallbackServerContext* context,
                                                  const v1::ListKeysRequest* request,
                                                  v1::ListKeysResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::ListKeys(api_, *request, FinishWith(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* MetricService::GetLossReport(grpc::CallbackServerContext* context,
                                                       const v1::GetLossReportRequest* request,
                                                       v1::GetLossReportResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::GetLossReport(api_, *request, FinishWith(reactor, response));
  return reactor;
}

}  // namespace trainyard::controller
