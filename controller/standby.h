// A controller that does not lead. It listens at the addresses of the controller, proves the token,
// and reports its role and its health. It passes requests for the page and REST on to the leader,
// and refuses everything else with the address of the leader.
#ifndef TRAINYARD_CONTROLLER_STANDBY_H_
#define TRAINYARD_CONTROLLER_STANDBY_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/controller_options.h"
#include "controller/front_door.h"
#include "controller/http/relay.h"
#include "controller/http/server.h"
#include "controller/rpc/server.h"
#include "controller/rpc/standby_service.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

class Standby {
 public:
  // Starts to listen. Errors: those of StartServer and http::Server::Listen. `clock` must outlive
  // this object.
  static absl::StatusOr<std::unique_ptr<Standby>> Start(const ControllerOptions& options,
                                                        const Clock& clock);
  // Closes both listeners.
  ~Standby();

  // The actual addresses. http_address is empty if HTTP is off.
  const std::string& address() const { return listening_.address; }
  std::string http_address() const { return http_ == nullptr ? "" : http_->address(); }

  // Sets the leader and its term, as callers see them. Empty and 0: no controller leads. `page`:
  // LeaderSeat::leader_page.
  void ShowLeader(const std::string& leader, int64_t term, const std::string& page);
  // Sets the number of the last event that this standby has applied.
  void ShowPosition(int64_t position);
  // Sets the reason why this standby could not take over at present; empty if it could. It is
  // reported by GET /healthz with status 503.
  void ShowProblem(const std::string& problem);

 private:
  Standby(const ControllerOptions& options, const Clock& clock);
  absl::Status Listen(const ControllerOptions& options);
  v1::GetServerInfoResponse Info() const;
  absl::Status ListenForHttp(const ControllerOptions& options);
  void AnswerHttp(http::Request request, const http::Respond& respond) const;
  http::Response HealthResponse() const;
  // The response to a request that is not passed on.
  http::Response RoleResponse(const std::string& target) const;

  FrontDoor door_;
  StandbyService service_;
  mutable std::mutex mutex_;
  v1::GetServerInfoResponse info_;  // Guarded by mutex_.
  std::string page_;                // Guarded by mutex_.
  std::string problem_;             // Guarded by mutex_.
  ListeningServer listening_;
  std::vector<std::string> own_names_;  // Host names of this controller.
  std::unique_ptr<http::Server> http_;
  // Declared after http_, because its responses use the connections of http_.
  std::unique_ptr<http::Relay> relay_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STANDBY_H_
