// Metrics as Prometheus reads them, put together value by value.
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

// Names follow Prometheus' rules: base units, `_total` on counters. The labels `job` and `instance`
// belong to Prometheus itself and are never ours.
struct MetricInfo {
  std::string_view name;
  std::string_view help;
  prometheus::MetricType type = prometheus::MetricType::Gauge;
};

using MetricLabels = std::vector<prometheus::ClientMetric::Label>;

// Families in the order of their first value, for values that are computed at each scrape from
// state that lives elsewhere, as a prometheus::Collectable returns them. A prometheus::Registry
// holds values that code counts itself. One thread.
class MetricSet {
 public:
  // The same info object must be used for every value of a name; it outlives the set. Label sets
  // of one name must differ: Prometheus refuses the whole scrape otherwise.
  void Add(const MetricInfo& info, MetricLabels labels, double value);
  void Add(const MetricInfo& info, MetricLabels labels, const prometheus::Histogram& histogram);

  std::vector<prometheus::MetricFamily> Take() { return std::move(families_); }

 private:
  prometheus::ClientMetric& NewValue(const MetricInfo& info, MetricLabels labels);

  std::vector<prometheus::MetricFamily> families_;
  std::map<const MetricInfo*, std::size_t> index_;
};

// CPU time, memory, open files and start of this process, under Prometheus' usual `process_` names.
// Reads /proc; what cannot be read is left out.
void AddProcessMetrics(MetricSet& metrics);

// Prometheus' text format. Values of labels come from users and jobs: their control characters
// become visible escapes (proto/text/printable.h).
std::string RenderText(std::vector<prometheus::MetricFamily> families);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_METRICS_METRIC_SET_H_
