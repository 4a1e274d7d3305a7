#include "proto/metrics/metric_set.h"

#include <prometheus/text_serializer.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

#include "proto/text/printable.h"

namespace trainyard {
namespace {

using prometheus::MetricType;

constexpr MetricInfo kCpuSeconds{"process_cpu_seconds_total",
                                 "User and system CPU time of the process.", MetricType::Counter};
constexpr MetricInfo kResidentBytes{"process_resident_memory_bytes",
                                    "Resident memory of the process."};
constexpr MetricInfo kOpenFiles{"process_open_fds", "Open file descriptors."};
constexpr MetricInfo kMaxFiles{"process_max_fds", "Maximum number of open file descriptors."};
constexpr MetricInfo kStartTime{"process_start_time_seconds",
                                "Start of the process, Unix seconds."};

// Fields 14, 15, 22 and 24 of /proc/self/stat, counted from 1; see proc(5).
struct ProcessStat {
  double cpu_ticks = 0;
  double start_ticks = 0;
  double resident_pages = 0;
};

std::optional<ProcessStat> ReadStat() {
  std::ifstream file("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  // The name may contain parentheses, so only the last parenthesis ends the name.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream rest(text.substr(name_end + 1));
  const std::vector<std::string> fields{std::istream_iterator<std::string>(rest), {}};
  constexpr std::size_t kFirst = 3;
  if (fields.size() <= 24 - kFirst) return std::nullopt;
  const auto field = [&](std::size_t number) { return std::stod(fields[number - kFirst]); };
  return ProcessStat{field(14) + field(15), field(22), field(24)};
}

std::optional<double> BootTime() {
  std::ifstream file("/proc/stat");
  std::string key;
  for (std::string line; std::getline(file, line);) {
    double value = 0;
    if (std::istringstream(line) >> key >> value && key == "btime") return value;
  }
  return std::nullopt;
}

}  // namespace

prometheus::ClientMetric& MetricSet::NewValue(const MetricInfo& info, MetricLabels labels) {
  const auto [found, added] = index_.try_emplace(&info, families_.size());
  if (added) {
    families_.push_back({std::string(info.name), std::string(info.help), info.type, {}});
  }
  prometheus::ClientMetric& metric = families_[found->second].metric.emplace_back();
  metric.label = std::move(labels);
  return metric;
}

void MetricSet::Add(const MetricInfo& info, MetricLabels labels, double value) {
  prometheus::ClientMetric& metric = NewValue(info, std::move(labels));
  if (info.type == MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
}

void MetricSet::Add(const MetricInfo& info, MetricLabels labels,
                    const prometheus::Histogram& histogram) {
  NewValue(info, std::move(labels)).histogram = histogram.Collect().histogram;
}

void AddProcessMetrics(MetricSet& metrics) {
  const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  if (const std::optional<ProcessStat> stat = ReadStat(); stat.has_value() && ticks > 0) {
    metrics.Add(kCpuSeconds, {}, stat->cpu_ticks / ticks);
    metrics.Add(kResidentBytes, {},
                stat->resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE)));
    if (const std::optional<double> boot = BootTime(); boot.has_value()) {
      metrics.Add(kStartTime, {}, *boot + stat->start_ticks / ticks);
    }
  }
  std::error_code error;
  std::filesystem::directory_iterator files("/proc/self/fd", error);
  if (!error) {
    metrics.Add(kOpenFiles, {}, static_cast<double>(std::distance(files, {})));
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    metrics.Add(kMaxFiles, {}, static_cast<double>(limit.rlim_cur));
  }
}

std::string RenderText(std::vector<prometheus::MetricFamily> families) {
  for (prometheus::MetricFamily& family : families) {
    for (prometheus::ClientMetric& metric : family.metric) {
      for (prometheus::ClientMetric::Label& label : metric.label) {
        label.value = PrintableLabel(label.value);
      }
    }
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace trainyard
