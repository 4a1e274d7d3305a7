// Metric series for charts, progress lines and the CLI.
#ifndef TRAINYARD_CONTROLLER_RPC_METRIC_SERVICE_H_
#define TRAINYARD_CONTROLLER_RPC_METRIC_SERVICE_H_

#include "controller/rpc/cluster_loop.h"
#include "controller/rpc/reader_pool.h"
#include "controller/store/metric_store.h"
#include "trainyard/v1/metric_service.grpc.pb.h"

namespace trainyard::controller {

class MetricService final : public v1::MetricService::CallbackService {
 public:
  // All arguments outlive every call.
  MetricService(ClusterLoop& loop, MetricStore& store, ReaderPool& readers)
      : loop_(loop), store_(store), readers_(readers) {}

  grpc::ServerUnaryReactor* GetSeries(grpc::CallbackServerContext* context,
                                      const v1::GetSeriesRequest* request,
                                      v1::GetSeriesResponse* response) override;
  grpc::ServerUnaryReactor* ListKeys(grpc::CallbackServerContext* context,
                                     const v1::ListKeysRequest* request,
                                     v1::ListKeysResponse* response) override;

 private:
  // Finds the job on the loop, then runs `query` with its number on the reader pool and finishes.
  void RunQuery(const std::string& job, grpc::ServerUnaryReactor* reactor,
                std::function<absl::Status(int64_t job_id)> query);

  ClusterLoop& loop_;
  MetricStore& store_;
  ReaderPool& readers_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_METRIC_SERVICE_H_
