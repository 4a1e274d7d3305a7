// Waits at the start of a controller, all within one limit.
#ifndef TRAINYARD_CONTROLLER_STORE_POSTGRES_SERVER_WAIT_H_
#define TRAINYARD_CONTROLLER_STORE_POSTGRES_SERVER_WAIT_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "controller/store/postgres/leadership.h"
#include "controller/store/postgres/postgres_database.h"

namespace trainyard::controller {

class ServerWait {
 public:
  using OnWait = std::function<void(const std::string& reason)>;

  // The limit begins now. `on_wait`: see PostgresStoreOptions.
  ServerWait(std::chrono::milliseconds limit, OnWait on_wait)
      : limit_(limit), on_wait_(std::move(on_wait)) {}

  // Connects as soon as the server accepts connections. Errors other than those of a server that is
  // starting, stopping, unreachable or out of connections are returned at once.
  absl::StatusOr<std::unique_ptr<PostgresDatabase>> Connect(const std::string& settings);

  // Begins a term as soon as no other controller leads. FAILED_PRECONDITION: another controller
  // still leads at the limit.
  absl::StatusOr<std::unique_ptr<Leadership>> Lead(const std::string& settings,
                                                   const std::string& holder);

 private:
  using Steady = std::chrono::steady_clock;

  // Returns false if the limit is reached.
  bool Pause(const std::string& reason);

  const Steady::time_point begin_ = Steady::now();
  const std::chrono::milliseconds limit_;
  const OnWait on_wait_;
  Steady::time_point reported_;  // Time of the last call of on_wait_.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_POSTGRES_SERVER_WAIT_H_
