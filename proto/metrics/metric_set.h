// Metrics as Prometheus reads them, put together value by value.
#ifndef TRAINYARD_PROTO_METRICS_METRIC_SET_H_
#define TRAINYARD_PROTO_METRICS_METRIC_SET_H_

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

// Names follow Prometheus' rules: base units, `_total` on counters. The labels `job` and `instance`
// belong to Prometheus itself and are never ours.
struct MetricInfo {
  std::string_view name;
  std::string_view help;
  prometheus::MetricType type = prometheus::MetricType::Gauge;
};

using MetricLabels = std::vector<prometheus::ClientMetric::Label>;

// A histogram for code that has one thread and must not lock.
class Distribution {
 public:
  // Upper bounds, ascending, without the infinite one.
  explicit Distribution(std::vector<double> bounds);

  // A value that is not a number is passed over.
  void Observe(double value);

  // Observations so far, and their sum.
  uint64_t count() const { return count_; }
  double sum() const { return sum_; }
  prometheus::ClientMetric::Histogram Get() const;

 private:
  std::vector<double> bounds_;
  // One more than bounds.
  std::vector<uint64_t> counts_;
  uint64_t count_ = 0;
  double sum_ = 0;
};

// Families in the order of their first value. One thread.
class MetricSet {
 public:
  // The same info object must be used for every value of a name; it outlives the set. Label sets
  // of one name must differ: Prometheus refuses the whole scrape otherwise.
  void Add(const MetricInfo& info, MetricLabels labels, double value);
  void Add(const MetricInfo& info, MetricLabels labels, const Distribution& distribution);

  std::vector<prometheus::MetricFamily> Take() { return std::move(families_); }

 private:
  prometheus::ClientMetric& NewValue(const MetricInfo& info, MetricLabels labels);

  std::vector<prometheus::MetricFamily> families_;
  std::map<const MetricInfo*, std::size_t> index_;
};

// CPU time, memory, open files and start of this process, under Prometheus' usual `process_` names.
// Reads /proc; what cannot be read is left out.
void AddProcessMetrics(MetricSet& metrics);

// Prometheus' text format.
std::string RenderText(const std::vector<prometheus::MetricFamily>& families);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_METRICS_METRIC_SET_H_
