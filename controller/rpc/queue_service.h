// The gRPC service for queues and the order of waiting jobs.
#ifndef TRAINYARD_CONTROLLER_RPC_QUEUE_SERVICE_H_
#define TRAINYARD_CONTROLLER_RPC_QUEUE_SERVICE_H_

#include "controller/api/context/api.h"
#include "trainyard/v1/queue_service.grpc.pb.h"

namespace trainyard::controller {

class QueueService final : public v1::QueueService::CallbackService {
 public:
  // `api` must outlive every call.
  explicit QueueService(const Api& api) : api_(api) {}

  grpc::ServerUnaryReactor* ListQueues(grpc::CallbackServerContext* context,
                                       const v1::ListQueuesRequest* request,
                                       v1::ListQueuesResponse* response) override;
  grpc::ServerUnaryReactor* SetQueue(grpc::CallbackServerContext* context,
                                     const v1::SetQueueRequest* request,
                                     v1::SetQueueResponse* response) override;
  grpc::ServerUnaryReactor* DeleteQueue(grpc::CallbackServerContext* context,
                                        const v1::DeleteQueueRequest* request,
                                        v1::DeleteQueueResponse* response) override;
  grpc::ServerUnaryReactor* MoveJob(grpc::CallbackServerContext* context,
                                    const v1::MoveJobRequest* request,
                                    v1::MoveJobResponse* response) override;

 private:
  const Api& api_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_QUEUE_SERVICE_H_
