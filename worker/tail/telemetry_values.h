// The values of one line of a rank's telemetry file, before a record is made of them.
#ifndef TRAINYARD_WORKER_TAIL_TELEMETRY_VALUES_H_
#define TRAINYARD_WORKER_TAIL_TELEMETRY_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/contract/limits.h"

namespace trainyard::worker {

// Limits on a line.
inline constexpr std::size_t kMaxTelemetryTextBytes = 4096;
inline constexpr int kMaxTelemetryDepth = 8;

// The value of a key in the line. Arrays keep only their numbers. Other nested values and null are
// dropped.
using TelemetryValue = std::variant<double, int64_t, bool, std::string, std::vector<double>>;
using TelemetryValues = std::map<std::string, TelemetryValue>;

// INVALID_ARGUMENT: the line is not a JSON object, or exceeds a limit.
absl::StatusOr<TelemetryValues> ReadValues(std::string_view line);

// Returns the error "`key` is not `expected`".
absl::Status Missing(const char* key, const std::string& expected);

std::optional<double> NumberOf(const TelemetryValue& value);

// Returns an integer of at least 0, which may be written as 5.0. Returns `fallback` if the key is
// optional and absent.
absl::StatusOr<int64_t> Count(const TelemetryValues& values, const char* key,
                              std::optional<int64_t> fallback = std::nullopt);

// Returns a step number. The number is limited, so that a program that writes garbage cannot set
// the progress of its job to an absurdly late step.
absl::StatusOr<int64_t> Step(const TelemetryValues& values, const char* key,
                             std::optional<int64_t> fallback = std::nullopt);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_TELEMETRY_VALUES_H_
