// The source of a request to the core. The source determines the queue in which the request waits.
#ifndef TRAINYARD_CONTROLLER_CORE_REQUESTS_REQUEST_SOURCE_H_
#define TRAINYARD_CONTROLLER_CORE_REQUESTS_REQUEST_SOURCE_H_

namespace trainyard::controller {

enum class RequestSource {
  // Decided first. The number of waiting requests is limited. Requests are refused while the disk
  // is full.
  kUser,
  // Decided together with users' requests. The number of waiting requests is not limited. Requests
  // are refused while the disk is full.
  kController,
  // Decided after users' requests. While the disk is full, requests wait instead of being refused,
  // because workers keep facts and telemetry until the controller acknowledges them.
  kWorker,
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_REQUESTS_REQUEST_SOURCE_H_
