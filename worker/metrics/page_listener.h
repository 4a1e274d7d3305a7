// An HTTP/1.1 listener for one page, on Boost.Beast. Slow or hostile clients block no others.
#ifndef TRAINYARD_WORKER_METRICS_PAGE_LISTENER_H_
#define TRAINYARD_WORKER_METRICS_PAGE_LISTENER_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace trainyard::worker {

struct PageLimits {
  // The time limit from accepting a connection to the end of the answer.
  std::chrono::milliseconds whole{5'000};
  // The limits on open connections per peer address and in total. A connection that would exceed a
  // limit replaces the oldest connection of its peer or of all peers.
  int of_peer = 16;
  int of_all = 64;
};

// Serves GET `path`, and closes the connection after each answer. Has its own thread.
class PageListener {
 public:
  // `render` creates the page, on the listener's thread. `host` is an address without brackets.
  // Errors state the cause but not the address.
  static absl::StatusOr<std::unique_ptr<PageListener>> Start(const std::string& host, int port,
                                                             std::string path,
                                                             std::function<std::string()> render,
                                                             PageLimits limits = {});
  // Closes every connection.
  ~PageListener();

  int port() const;

 private:
  struct Parts;
  explicit PageListener(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_METRICS_PAGE_LISTENER_H_
