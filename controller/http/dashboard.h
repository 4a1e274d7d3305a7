// The HTTP side of the controller, put together: REST, event stream, dashboard.
#ifndef TRAINYARD_CONTROLLER_HTTP_DASHBOARD_H_
#define TRAINYARD_CONTROLLER_HTTP_DASHBOARD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/api/api.h"
#include "controller/http/server.h"

namespace trainyard::controller::http {

// `route` is a path of the route table, "/metrics", "/healthz", "page" for the dashboard's own
// files, or "unknown". `seconds` of an event stream is the time until it begins.
using ObserveRequest =
    std::function<void(const std::string& route, const std::string& status, double seconds)>;

struct DashboardOptions {
  // "host:port"; port 0 picks a free one; empty: no HTTP.
  std::string listen;
  // Host names beside addresses, localhost and this machine's own name that lead here.
  std::vector<std::string> own_names;
  // Text of GET /metrics; called on reader threads. Empty: there is no such page.
  std::function<std::string()> render_metrics;
  // Problems for GET /healthz, a line each; empty text when all is well. Called on any thread; must
  // not block. Empty function: there is no such page.
  std::function<std::string()> health_problems;
  // Called for each answered request, on any thread; may be empty.
  ObserveRequest observe_request;
  // Directory of the dashboard's files instead of those in the program.
  std::string web_root;
  // PEM texts; both empty: http without TLS.
  TlsIdentity tls;
};

class Dashboard {
 public:
  // Takes the port; answers nothing yet. `api` outlives the dashboard, and the dashboard
  // outlives the loop's last tick. Errors: those of Server::Listen, and NOT_FOUND for a web_root
  // without index.html.
  static absl::StatusOr<std::unique_ptr<Dashboard>> Listen(const Api& api,
                                                           const DashboardOptions& options);
  ~Dashboard();

  // Once the loop runs.
  void Start();
  void Stop();

  const std::string& address() const;
  // Any thread.
  StreamStatistics Streams() const;

  // Notifies streams that output of this job has been stored. Any thread.
  void NotifyOutput(int64_t job_id);
  // Notifies streams that metric points of this job up to `step` have been stored. Any thread.
  void NotifyPoints(int64_t job_id, int64_t step);

 private:
  struct Parts;
  explicit Dashboard(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_DASHBOARD_H_
