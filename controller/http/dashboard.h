// The controller's HTTP side: REST, event stream and dashboard.
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
// files, or "unknown". For an event stream, `seconds` is the time until it begins.
using ObserveRequest =
    std::function<void(const std::string& route, const std::string& status, double seconds)>;

struct DashboardOptions {
  // "host:port"; port 0 picks a free port. Empty: no HTTP.
  std::string listen;
  // Accepted host names in addition to addresses, localhost and this machine's own name.
  std::vector<std::string> own_names;
  // Text of GET /metrics. Called on reader threads. Empty: the page does not exist.
  std::function<std::string()> render_metrics;
  // Problems for GET /healthz, one per line; empty if there are none. Called on any thread; must
  // not block. Empty function: the page does not exist.
  std::function<std::string()> health_problems;
  // Called for each answered request, on any thread. May be empty.
  ObserveRequest observe_request;
  // Directory of the dashboard's files, used instead of the embedded files.
  std::string web_root;
  // PEM texts. Both empty: HTTP without TLS.
  TlsIdentity tls;
};

class Dashboard {
 public:
  // Binds the port, but answers nothing yet. `api` must outlive the dashboard, and the dashboard
  // must outlive the loop's last tick. Errors: those of Server::Listen, and NOT_FOUND for a
  // web_root without index.html.
  static absl::StatusOr<std::unique_ptr<Dashboard>> Listen(const Api& api,
                                                           const DashboardOptions& options);
  ~Dashboard();

  // Call once the loop runs.
  void Start();
  void Stop();

  const std::string& address() const;
  // Any thread.
  StreamStatistics Streams() const;

  // Notifies streams that output of this job was stored. Any thread.
  void NotifyOutput(int64_t job_id);
  // Notifies streams that metric points of this job up to `step` were stored. Any thread.
  void NotifyPoints(int64_t job_id, int64_t step);

 private:
  struct Parts;
  explicit Dashboard(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_DASHBOARD_H_
