// Collects metrics for Prometheus, one value at a time.
#ifndef TRAINYARD_PROTO_METRICS_METRIC_SET_H_
#define TRAINYARD_PROTO_METRICS_METRIC_SET_H_

#include <prometheus/client_metric.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

// The name, help text and type of a metric. Names must follow Prometheus' rules: base units, and
// `_total` on counters. The labels `job` and `instance` are reserved for Prometheus itself.
struct MetricInfo {
  std::string_view name;
  std::string_view help;
  prometheus::MetricType type = prometheus::MetricType::Gauge;
};

using MetricLabels = std::vector<prometheus::ClientMetric::Label>;

// Metric families in the order of their first value. Use this class in a prometheus::Collectable
// for values that are computed at each scrape. For counters that code increments, use a
// prometheus::Registry. Used by one thread.
class MetricSet {
 public:
  // Adds one value. All values of a name must use the same info object, which must outlive the set.
  // The labels of these values must differ, because otherwise Prometheus rejects the whole scrape.
  void Add(const MetricInfo& info, MetricLabels labels, double value);
  void Add(const MetricInfo& info, MetricLabels labels, const prometheus::Histogram& histogram);

  std::vector<prometheus::MetricFamily> Take() { return std::move(families_); }

 private:
  prometheus::ClientMetric& NewValue(const MetricInfo& info, MetricLabels labels);

  std::vector<prometheus::MetricFamily> families_;
  std::map<const MetricInfo*, std::size_t> index_;
};

// Adds CPU time, memory, open files and start time of this process, with the `process_` names that
// Prometheus clients normally use. Reads /proc. Values that cannot be read are omitted.
void AddProcessMetrics(MetricSet& metrics);

// Returns the families in Prometheus' text format. Label values come from users and jobs, so their
// control characters are replaced by visible escapes (proto/text/printable.h).
std::string RenderText(std::vector<prometheus::MetricFamily> families);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_METRICS_METRIC_SET_H_
