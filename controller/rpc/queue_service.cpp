#include "controller/rpc/queue_service.h"

#include "controller/api/cluster/queue_handlers.h"
#include "controller/api/jobs/job_handlers.h"
#include "controller/rpc/unary.h"

namespace trainyard::controller {

grpc::ServerUnaryReactor* QueueService::ListQueues(grpc::CallbackServerContext* context,
                                                   const v1::ListQueuesRequest* request,
                                                   v1::ListQueuesResponse* response) {
  return Answer({api_, context}, response, handlers::ListQueues, *request);
}

grpc::ServerUnaryReactor* QueueService::SetQueue(grpc::CallbackServerContext* context,
                                                 const v1::SetQueueRequest* request,
                                                 v1::SetQueueResponse* response) {
  return Answer({api_, context, request->user()}, response, handlers::SetQueue, *request);
}

grpc::ServerUnaryReactor* QueueService::DeleteQueue(grpc::CallbackServerContext* context,
                                                    const v1::DeleteQueueRequest* request,
                                                    v1::DeleteQueueResponse* response) {
  return Answer({api_, context, request->user()}, response, handlers::DeleteQueue, *request);
}

grpc::ServerUnaryReactor* QueueService::MoveJob(grpc::CallbackServerContext* context,
                                                const v1::MoveJobRequest* request,
                                                v1::MoveJobResponse* response) {
  return Answer({api_, context, request->user()}, response, handlers::MoveJob, *request);
}

}  // namespace trainyard::controller
