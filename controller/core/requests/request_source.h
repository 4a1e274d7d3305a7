// Source of a request to the core. It selects the queue for the request.
#ifndef TRAINYARD_CONTROLLER_CORE_REQUESTS_REQUEST_SOURCE_H_
#define TRAINYARD_CONTROLLER_CORE_REQUESTS_REQUEST_SOURCE_H_

namespace trainyard::controller {

enum class RequestSource {
  // Decided first. The number of waiting requests is limited. Refused while the disk is full.
  kUser,
  // Decided together with users' requests, without a limit. Refused while the disk is full.
  kController,
  // Decided after users' requests. Waits while the disk is full: workers keep facts and telemetry
  // until they are acknowledged.
  kWorker,
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_REQUESTS_REQUEST_SOURCE_H_
