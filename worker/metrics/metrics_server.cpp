#include "worker/metrics/metrics_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <prometheus/collectable.h>

#include <array>
#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/metrics/metric_set.h"
#include "spdlog/spdlog.h"
#include "worker/device/gpu_monitor.h"
#include "worker/metrics/page_listener.h"
#include "worker/spool/output_space.h"

namespace trainyard::worker {
namespace {

namespace fs = std::filesystem;

struct HostPort {
  std::string host;
  int port = 0;
};

// True for an IPv4 address, and for an IPv6 address in brackets. Other text is rejected: the
// listener does not resolve host names, and would parse text after a comma as options.
bool IsAddress(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    return inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), bytes.data()) == 1;
  }
  return inet_pton(AF_INET, host.c_str(), bytes.data()) == 1;
}

absl::StatusOr<HostPort> ParseListen(const std::string& listen) {
  const std::size_t colon = listen.rfind(':');
  HostPort result;
  const std::string port = colon == std::string::npos ? "" : listen.substr(colon + 1);
  // Checked separately, because SimpleAtoi accepts spaces.
  const bool is_number = port.find_first_not_of("0123456789") == std::string::npos;
  if (!IsAddress(listen.substr(0, colon)) || !is_number || !absl::SimpleAtoi(port, &result.port) ||
      result.port > 65535) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--metrics-listen ", listen, ": expected IP:PORT, such as 127.0.0.1:7072 or [::1]:7072"));
  }
  result.host = listen.substr(0, colon);
  return result;
}

// Returns the disk usage in bytes of the files below a directory. Files may appear and disappear
// during the count. Errors are therefore ignored, and an error may end the count early.
int64_t BytesBelow(const fs::path& directory) {
  int64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(directory, error); !error && entry != fs::end(entry);
       entry.increment(error)) {
    std::error_code gone;
    if (entry->is_regular_file(gone)) bytes += BytesOnDisk(entry->path().string());
  }
  return bytes;
}

SpoolStatistics MeasureSpool(const std::string& data_dir) {
  SpoolStatistics statistics;
  statistics.spool_bytes =
      BytesBelow(fs::path(data_dir) / "attempts") + BytesBelow(fs::path(data_dir) / "runs");
  std::error_code error;
  const fs::space_info space = fs::space(data_dir, error);
  if (!error) statistics.disk_free_bytes = static_cast<int64_t>(space.available);
  return statistics;
}

// The values of GET /metrics, computed at each scrape. Scrapes call Collect on the listener's
// threads. The worker's loop calls Publish.
class Page final : public prometheus::Collectable {
 public:
  explicit Page(const MetricsServerOptions& options) : data_dir_(options.data_dir) {
    if (!options.gpu_metrics) return;
    auto monitor = GpuMonitor::Open(options.nvml_library);
    if (monitor.ok()) {
      gpus_ = *std::move(monitor);
    } else if (!absl::IsNotFound(monitor.status())) {  // NOT_FOUND means a node without GPUs.
      spdlog::warn("no GPU metrics: {}", std::string(monitor.status().message()));
    }
  }

  void Publish(WorkerStatistics statistics) {
    const std::lock_guard lock(statistics_mutex_);
    statistics_ = std::move(statistics);
  }

  std::vector<prometheus::MetricFamily> Collect() const override {
    MetricSet metrics;
    if (const std::optional<WorkerStatistics> statistics = Statistics(); statistics.has_value()) {
      AddWorkerSamples(*statistics, MeasureSpool(data_dir_), metrics);
      AddGpuAssignments(*statistics, metrics);
      AddGpus(statistics->node, metrics);
    }
    AddProcessMetrics(metrics);
    return metrics.Take();
  }

 private:
  std::optional<WorkerStatistics> Statistics() const {
    const std::lock_guard lock(statistics_mutex_);
    return statistics_;
  }

  void AddGpus(const std::string& node, MetricSet& metrics) const {
    if (gpus_ == nullptr) return;
    const std::lock_guard lock(gpus_mutex_);
    AddGpuSamples(node, gpus_->Read(), metrics);
  }

  const std::string data_dir_;
  mutable std::mutex statistics_mutex_;
  // Guarded by statistics_mutex_; nullopt before the first Publish.
  std::optional<WorkerStatistics> statistics_;
  // A separate mutex, because reading the GPUs is slow and Publish must not wait for it.
  mutable std::mutex gpus_mutex_;
  // Null without NVML or if GPU metrics are off. Guarded by gpus_mutex_.
  std::unique_ptr<GpuMonitor> gpus_;
};

absl::Status CannotListen(const MetricsServerOptions& options, const char* cause) {
  return absl::UnavailableError(
      absl::StrCat("cannot serve metrics on ", options.listen, " (", cause,
                   "); is the port in use? Choose another port with --metrics-listen IP:PORT (port "
                   "0 picks a free one), or set --metrics-listen off"));
}

}  // namespace

struct MetricsServer::Parts {
  explicit Parts(const MetricsServerOptions& options) : page(std::make_shared<Page>(options)) {}

  // Declared before the listener and therefore destroyed after it, because the listener's thread
  // uses the page.
  const std::shared_ptr<Page> page;
  std::unique_ptr<PageListener> listener;
  std::string address;
};

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(MetricsServerOptions options) {
  absl::StatusOr<HostPort> where = ParseListen(options.listen);
  if (!where.ok()) return where.status();
  auto parts = std::make_unique<Parts>(options);
  const bool is_six = where->host.front() == '[';
  const std::string host = is_six ? where->host.substr(1, where->host.size() - 2) : where->host;
  auto listener = PageListener::Start(host, where->port, "/metrics",
                                      [page = parts->page] { return RenderText(page->Collect()); });
  if (!listener.ok()) {
    return CannotListen(options, std::string(listener.status().message()).c_str());
  }
  parts->listener = *std::move(listener);
  parts->address = absl::StrCat(where->host, ":", parts->listener->port());
  return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(parts)));
}

MetricsServer::MetricsServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

MetricsServer::~MetricsServer() = default;

const std::string& MetricsServer::address() const { return parts_->address; }

void MetricsServer::Publish(WorkerStatistics statistics) {
  parts_->page->Publish(std::move(statistics));
}

}  // namespace trainyard::worker
