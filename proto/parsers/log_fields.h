// Helpers of log parsers: numbers, steps and names of metrics in a line of output.
#ifndef TRAINYARD_PROTO_PARSERS_LOG_FIELDS_H_
#define TRAINYARD_PROTO_PARSERS_LOG_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "re2/stringpiece.h"
#include "trainyard/v1/telemetry.pb.h"

// A pattern for a number, without a capturing group: a decimal number, possibly with digit groups
// or an exponent, or nan or inf.
#define TRAINYARD_NUMBER R"([-+]?(?:\d[\d,]*\.?\d*(?:[eE][-+]?\d+)?|\.\d+|(?i:nan|inf)))"

namespace trainyard {

// Returns the number, or nullopt if the text is not a number. Commas are ignored.
std::optional<double> ToNumber(re2::StringPiece text);

// Returns the step, or nullopt if the text is not a number from 0 to kMaxStep.
std::optional<int64_t> ToStep(re2::StringPiece text);

// Returns the name of a metric, such as "number_of_nan_iterations" for "Number of NaN iterations".
std::string MetricName(re2::StringPiece text);

// The text of a name, and a number.
struct NamedNumber {
  std::string_view name;
  double value = 0;
};

// Reads "name: number" or "name number". Blanks around the field are ignored. Returns nullopt if
// the text does not end with a number. Faster than a pattern.
std::optional<NamedNumber> ReadNamedNumber(std::string_view text);

// Returns the record; nullopt if the record contains no number.
std::optional<v1::MetricsRecord> Finish(v1::MetricsRecord record);

// Sets a value. If the record already has kMaxTelemetryKeys values, ignores the value, because a
// program must not make a record arbitrarily long.
void SetValue(v1::MetricsRecord& record, const std::string& name, double value);

// Sets the loss on an evaluation set, and adds the set to the record's evaluation sets.
void SetEvaluationLoss(v1::MetricsRecord& record, const std::string& set, double loss);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_PARSERS_LOG_FIELDS_H_
