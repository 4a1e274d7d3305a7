// Request handlers for queues and the order of waiting jobs. Error codes: queue_service.proto.
#ifndef TRAINYARD_CONTROLLER_API_CLUSTER_QUEUE_HANDLERS_H_
#define TRAINYARD_CONTROLLER_API_CLUSTER_QUEUE_HANDLERS_H_

#include "controller/api/context/api.h"
#include "trainyard/v1/queue_service.pb.h"

namespace trainyard::controller::handlers {

void ListQueues(const Api& api, const Principal& principal, v1::ListQueuesRequest request,
                Reply<v1::ListQueuesResponse> reply);
void SetQueue(const Api& api, const Principal& principal, v1::SetQueueRequest request,
              Reply<v1::SetQueueResponse> reply);
void DeleteQueue(const Api& api, const Principal& principal, v1::DeleteQueueRequest request,
                 Reply<v1::DeleteQueueResponse> reply);

}  // namespace trainyard::controller::handlers

#endif  // TRAINYARD_CONTROLLER_API_CLUSTER_QUEUE_HANDLERS_H_
