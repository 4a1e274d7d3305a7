#include "controller/core/observations/data_progress.h"

#include <cmath>
#include <optional>

#include "proto/contract/telemetry_keys.h"

namespace trainyard::controller {
namespace {

// The largest count that a double represents exactly.
constexpr double kLargestCount = 9007199254740992.0;
constexpr double kMostStages = 1'000'000;
constexpr double kMostRanks = 1'000'000;
constexpr double kLongestEtaSeconds = 365 * 86400.0;

// Returns nullopt if the value is missing, not finite, or not within 0 and `most`.
std::optional<double> Within(const v1::MetricsRecord& metrics, const char* name, double most) {
  const auto found = metrics.values().find(name);
  if (found == metrics.values().end() || !std::isfinite(found->second)) return std::nullopt;
  if (found->second < 0 || found->second > most) return std::nullopt;
  return found->second;
}

void ObserveSlowestBlock(const v1::MetricsRecord& metrics, v1::DataProgress& data) {
  const auto number = Within(metrics, telemetry::kSlowestBlock, kLargestCount);
  const auto seconds = Within(metrics, telemetry::kSlowestBlockSeconds, kLongestEtaSeconds);
  const auto rank = Within(metrics, telemetry::kSlowestBlockRank, kMostRanks);
  data.clear_slowest_block();
  if (!number || *number < 1 || !seconds || !rank) return;
  v1::RunningBlock& block = *data.mutable_slowest_block();
  block.set_number(static_cast<int64_t>(*number));
  block.set_seconds(*seconds);
  block.set_rank(static_cast<int32_t>(*rank));
}

}  // namespace

void ObserveDataProgress(const v1::MetricsRecord& metrics, v1::Progress& progress) {
  v1::DataProgress& data = *progress.mutable_data();
  const auto count = [&](const char* name) { return Within(metrics, name, kLargestCount); };
  if (const auto value = Within(metrics, telemetry::kPipelineStep, kMostStages)) {
    data.set_stage(static_cast<int32_t>(*value));
  }
  if (const auto value = Within(metrics, telemetry::kPipelineSteps, kMostStages)) {
    data.set_stages(static_cast<int32_t>(*value));
  }
  if (const auto value = count(telemetry::kDocuments)) {
    data.set_documents(static_cast<int64_t>(*value));
  }
  if (data.stage() <= 1) data.set_read_documents(data.documents());
  if (const auto value = count(telemetry::kDroppedDocuments)) {
    data.set_dropped_documents(static_cast<int64_t>(*value));
  }
  if (const auto value = count(telemetry::kBytes)) {
    data.set_bytes(static_cast<int64_t>(*value));
  }
  if (const auto value = count(telemetry::kTokens)) data.set_tokens(static_cast<int64_t>(*value));
  data.set_bytes_per_second(count(telemetry::kBytesPerSecond).value_or(0));
  ObserveSlowestBlock(metrics, data);
  // The steps of a pipeline read at different rates. The program's own prediction therefore
  // replaces the one from the duration of earlier steps.
  progress.set_eta_seconds(Within(metrics, telemetry::kEtaSeconds, kLongestEtaSeconds).value_or(0));
}

}  // namespace trainyard::controller
