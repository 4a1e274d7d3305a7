// The controller's HTTP interface: REST, event stream and dashboard.
#ifndef TRAINYARD_CONTROLLER_HTTP_DASHBOARD_H_
#define TRAINYARD_CONTROLLER_HTTP_DASHBOARD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/api/context/api.h"
#include "controller/http/server.h"

namespace trainyard::controller::http {

// Records the duration of a request. `route` is a path of the route table, "/metrics", "/healthz",
// "page" for the dashboard's own files, or "unknown". `seconds` is the duration; for an event
// stream, the time until the stream begins.
using ObserveRequest =
    std::function<void(const std::string& route, const std::string& status, double seconds)>;

struct DashboardOptions {
  // "host:port". With port 0, a free port is used. If empty, there is no HTTP server.
  std::string listen;
  // Host names that are accepted in addition to IP addresses, localhost and this machine's own
  // name.
  std::vector<std::string> own_names;
  // Returns the text of GET /metrics. Called on reader threads. If not set, GET /metrics answers
  // 404.
  std::function<std::string()> render_metrics;
  // Returns the problems for GET /healthz, one per line. Empty if there are no problems. Called on
  // any thread; must not block. If not set, GET /healthz answers 404.
  std::function<std::string()> health_problems;
  // Called for each answered request, on any thread. May be unset.
  ObserveRequest observe_request;
  // Called before each write to a client (Server::BeforeAnswer). May be unset.
  std::function<void()> before_answer;
  // A directory whose files replace the embedded dashboard files. If empty, the embedded files are
  // used.
  std::string web_root;
  // PEM texts. If both are empty, HTTP is served without TLS.
  TlsIdentity tls;
};

class Dashboard {
 public:
  // Binds the port, but does not accept requests yet. `api` must outlive the dashboard, and the
  // dashboard must outlive the loop's last tick. Errors: those of Server::Listen. NOT_FOUND:
  // web_root has no index.html.
  static absl::StatusOr<std::unique_ptr<Dashboard>> Listen(const Api& api,
                                                           const DashboardOptions& options);
  ~Dashboard();

  // Call after the loop has started.
  void Start();
  void Stop();

  const std::string& address() const;
  // May be called on any thread.
  StreamStatistics Streams() const;

  // Notifies streams that new output of this job is stored. May be called on any thread.
  void NotifyOutput(int64_t job_id);
  // Notifies streams that metric points of this job up to `step` are stored. May be called on any
  // thread.
  void NotifyPoints(int64_t job_id, int64_t step);

 private:
  struct Parts;
  explicit Dashboard(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_DASHBOARD_H_
