#include "controller/metrics/metrics_exporter.h"

#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <future>
#include <iterator>
#include <mutex>
#include <utility>

#include "controller/core/observations/observe.h"
#include "controller/metrics/cluster_samples.h"
#include "controller/metrics/event_totals.h"
#include "controller/metrics/training_totals.h"

namespace trainyard::controller {
namespace {

using Steady = std::chrono::steady_clock;
using Families = std::vector<prometheus::MetricFamily>;
using HistogramFamily = prometheus::Family<prometheus::Histogram>;

constexpr MetricInfo kBuildInfo{"trainyard_build_info",
                                "Always 1; the labels describe the running build."};
constexpr MetricInfo kSnapshotAge{"trainyard_snapshot_age_seconds",
                                  "Age of the job and node data in these metrics."};
constexpr MetricInfo kStoreSize{"trainyard_store_size_bytes",
                                "Size of a store database, including its write-ahead log."};
constexpr MetricInfo kDiskFree{"trainyard_store_disk_free_bytes",
                               "Free space on the file system of the store."};

// From 100 us to 10 s, because a commit takes 1 ms on a good disk and seconds on a bad one.
const prometheus::Histogram::BucketBoundaries& Durations() {
  static const prometheus::Histogram::BucketBoundaries bounds = {
      0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
      0.05,   0.1,     0.25,   0.5,   1,      2.5,   5,    10};
  return bounds;
}

HistogramFamily& MakeHistogram(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

constexpr std::array kStoreOperations{"append_events", "write_snapshot", "append_metrics",
                                      "append_logs"};

// The store keeps each database in its own file (stores.h).
constexpr std::array kDatabases{"events", "metrics", "logs"};

void AddStoreFiles(const std::string& data_dir, MetricSet& metrics) {
  for (const char* database : kDatabases) {
    const std::filesystem::path path = std::filesystem::path(data_dir) / database;
    double bytes = 0;
    bool exists = false;
    for (const char* suffix : {".db", ".db-wal"}) {
      std::error_code error;
      const auto size = std::filesystem::file_size(path.string() + suffix, error);
      if (error) continue;
      exists = true;
      bytes += static_cast<double>(size);
    }
    if (exists) metrics.Add(kStoreSize, {{"database", database}}, bytes);
  }
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(data_dir, error);
  if (!error) metrics.Add(kDiskFree, {}, static_cast<double>(space.available));
}

void Append(Families more, Families& families) {
  families.insert(families.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
}

}  // namespace

struct MetricsExporter::Parts {
  Parts(ClusterLoop& the_loop, MetricsExporterOptions the_options)
      : loop(the_loop), options(std::move(the_options)) {
    for (std::size_t i = 0; i < kStoreOperations.size(); ++i) {
      store_of[i] = &store.Add({{"op", kStoreOperations[i]}}, Durations());
    }
  }

  // Returns the metrics of the latest snapshot, or of a new snapshot if the latest is too old.
  Families Snapshot(double& age_seconds);
  std::shared_future<void> Ask();

  ClusterLoop& loop;
  const MetricsExporterOptions options;

  prometheus::Registry registry;
  prometheus::Histogram& cycle =
      MakeHistogram(registry, "trainyard_scheduler_cycle_duration_seconds",
                    "Duration of one tick of the loop: decide, plan, commit, send.")
          .Add({}, Durations());
  HistogramFamily& store =
      MakeHistogram(registry, "trainyard_store_op_duration_seconds",
                    "Duration of a store transaction, including fsync, by operation.");
  std::array<prometheus::Histogram*, kStoreOperations.size()> store_of{};
  HistogramFamily& calls = MakeHistogram(registry, "trainyard_rpc_duration_seconds",
                                         "Duration of unary gRPC calls, by method and code.");
  HistogramFamily& requests = MakeHistogram(registry, "trainyard_http_request_duration_seconds",
                                            "Duration of HTTP requests, by route and status. For "
                                            "an event stream, the time until the stream begins.");

  // Used only on the loop thread.
  EventTotals events;
  TrainingTotals training;

  std::mutex mutex;
  // Guarded by mutex.
  Families snapshot;
  Steady::time_point snapshot_at{};
  // The pending request to the loop for a snapshot. While the loop does not respond, there is only
  // this one request, regardless of the number of scrapes.
  std::shared_future<void> asked;
};

MetricsExporter::MetricsExporter(ClusterLoop& loop, const ClusterView& recovered,
                                 MetricsExporterOptions options)
    : parts_(std::make_unique<Parts>(loop, std::move(options))) {
  Parts& parts = *parts_;
  parts.events.Restore(recovered.state, recovered.now);
  loop.Listen([&parts](const ClusterView& view, const TickSummary& summary) {
    for (const v1::Event& event : summary.events) parts.events.Count(event, view.state);
    for (const int64_t job_id : parts.events.ForgetEnded(view.now)) parts.training.Forget(job_id);
    return true;
  });
}

MetricsExporter::~MetricsExporter() = default;

Families MetricsExporter::Parts::Snapshot(double& age_seconds) {
  {
    const std::lock_guard lock(mutex);
    if (snapshot_at != Steady::time_point{} &&
        Steady::now() - snapshot_at < options.snapshot_min_age) {
      age_seconds = std::chrono::duration<double>(Steady::now() - snapshot_at).count();
      return snapshot;
    }
  }
  Ask().wait_for(options.loop_timeout);
  const std::lock_guard lock(mutex);
  age_seconds = std::chrono::duration<double>(Steady::now() - snapshot_at).count();
  return snapshot;
}

std::shared_future<void> MetricsExporter::Parts::Ask() {
  auto taken = std::make_shared<std::promise<void>>();
  const std::shared_future<void> answer = taken->get_future().share();
  {
    const std::lock_guard lock(mutex);
    if (asked.valid()) return asked;
    asked = answer;
  }
  loop.Read([this, taken](const ClusterView& view) {
    MetricSet metrics;
    AddClusterSamples({view, events, training}, view.now, metrics);
    {
      const std::lock_guard lock(mutex);
      snapshot = metrics.Take();
      snapshot_at = Steady::now();
      asked = {};
    }
    taken->set_value();
  });
  return answer;
}

std::string MetricsExporter::RenderMetrics() {
  MetricSet metrics;
  metrics.Add(kBuildInfo, {{"version", parts_->options.version}, {"component", "controller"}}, 1);
  AddProcessMetrics(metrics);
  AddStoreFiles(parts_->options.data_dir, metrics);
  if (parts_->options.more) parts_->options.more(metrics);
  double age_seconds = 0;
  Families snapshot = parts_->Snapshot(age_seconds);
  if (!snapshot.empty()) metrics.Add(kSnapshotAge, {}, age_seconds);
  Families families = metrics.Take();
  Append(std::move(snapshot), families);
  Append(parts_->registry.Collect(), families);
  return RenderText(std::move(families));
}

void MetricsExporter::ObserveTelemetry(const v1::TelemetryBatch& batch, Timestamp now) {
  parts_->training.Observe(batch, now);
}

void MetricsExporter::ObserveCycle(double seconds) { parts_->cycle.Observe(seconds); }

void MetricsExporter::ObserveStore(StoreOperation operation, double seconds) {
  parts_->store_of[static_cast<std::size_t>(operation)]->Observe(seconds);
}

void MetricsExporter::ObserveCall(const std::string& method, const std::string& code,
                                  double seconds) {
  parts_->calls.Add({{"method", method}, {"code", code}}, Durations()).Observe(seconds);
}

void MetricsExporter::ObserveRequest(const std::string& route, const std::string& status,
                                     double seconds) {
  parts_->requests.Add({{"route", route}, {"code", status}}, Durations()).Observe(seconds);
}

}  // namespace trainyard::controller
