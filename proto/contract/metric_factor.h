// The entries of `log_parser.scale`, such as "step_seconds=0.001".
#ifndef TRAINYARD_PROTO_CONTRACT_METRIC_FACTOR_H_
#define TRAINYARD_PROTO_CONTRACT_METRIC_FACTOR_H_

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

struct MetricFactor {
  std::string metric;
  double factor = 1;
};

// Returns nullopt if the text is not a name, `=` and a finite number other than 0.
inline std::optional<MetricFactor> ParseMetricFactor(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return std::nullopt;
  MetricFactor parsed{std::string(text.substr(0, equals)), 0};
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data() + equals + 1, end, parsed.factor);
  const bool is_number = result.ec == std::errc() && result.ptr == end;
  if (!is_number || !std::isfinite(parsed.factor) || parsed.factor == 0) return std::nullopt;
  return parsed;
}

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_METRIC_FACTOR_H_
