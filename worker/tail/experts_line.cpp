#include "worker/tail/experts_line.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/contract/expert_load.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/support/status_macros.h"

namespace trainyard::worker {
namespace {

// Returns the array of the key, with a number for each layer. Empty if the key is absent.
absl::StatusOr<std::vector<double>> PerLayer(const TelemetryValues& values, const char* key,
                                             std::size_t layers) {
  const auto found = values.find(key);
  if (found == values.end()) return std::vector<double>();
  const auto* numbers = std::get_if<std::vector<double>>(&found->second);
  if (numbers != nullptr && numbers->size() == layers) return *numbers;
  return Missing(key, absl::StrCat("an array of ", layers, " numbers, like `balance`"));
}

// Returns the loads of all experts. Empty if the key is absent.
absl::StatusOr<std::string> Loads(const TelemetryValues& values, const ExpertShape& shape) {
  const auto found = values.find(telemetry::kExpertLoad);
  if (found == values.end()) return std::string();
  const auto* digits = std::get_if<std::string>(&found->second);
  const bool is_hex = digits != nullptr && digits->size() % 2 == 0 &&
                      HasAllLoads(shape, digits->size() / 2) &&
                      std::all_of(digits->begin(), digits->end(), [](char digit) {
                        return absl::ascii_isxdigit(static_cast<unsigned char>(digit));
                      });
  if (is_hex) return absl::HexStringToBytes(*digits);
  return Missing(telemetry::kExpertLoad,
                 absl::StrCat("two hexadecimal digits for each expert of each layer (at most ",
                              kMaxExpertLoads, " experts)"));
}

}  // namespace

absl::Status ReadExperts(const TelemetryValues& values, v1::ExpertsRecord& record) {
  const auto balance = values.find(telemetry::kBalance);
  const auto* layers =
      balance == values.end() ? nullptr : std::get_if<std::vector<double>>(&balance->second);
  if (layers == nullptr || layers->empty()) {
    return Missing(telemetry::kBalance, "an array with a number for each layer");
  }
  const std::size_t count = layers->size();
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t step, Step(values, telemetry::kStep));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t first, Step(values, telemetry::kFirstLayer, 0));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t experts, Count(values, telemetry::kExpertCount));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t topk, Count(values, telemetry::kTopk));
  const ExpertShape shape{.first_layer = first,
                          .layers = static_cast<int64_t>(count),
                          .experts = experts,
                          .topk = topk};
  if (!IsAllowed(shape)) {
    return absl::InvalidArgumentError(
        absl::StrCat("`expert_count` must be from 1 to ", kMaxExpertsOfLayer,
                     ", `topk` from 1 to `expert_count`, and `first_layer` and the number of "
                     "layers at most ",
                     kMaxLayers));
  }
  TRAINYARD_ASSIGN_OR_RETURN(std::string load, Loads(values, shape));
  record.set_step(step);
  record.set_first_layer(static_cast<int32_t>(first));
  record.set_experts(static_cast<int32_t>(experts));
  record.set_topk(static_cast<int32_t>(topk));
  record.set_load(std::move(load));
  record.mutable_balance()->Assign(layers->begin(), layers->end());
  using Mutable = google::protobuf::RepeatedField<float>* (v1::ExpertsRecord::*)();
  static constexpr std::pair<const char*, Mutable> kFigures[] = {
      {telemetry::kAuxLoss, &v1::ExpertsRecord::mutable_aux_loss},
      {telemetry::kEntropy, &v1::ExpertsRecord::mutable_entropy},
      {telemetry::kDropped, &v1::ExpertsRecord::mutable_dropped}};
  for (const auto& [key, field] : kFigures) {
    TRAINYARD_ASSIGN_OR_RETURN(const std::vector<double> numbers, PerLayer(values, key, count));
    (record.*field)()->Assign(numbers.begin(), numbers.end());
  }
  return absl::OkStatus();
}

}  // namespace trainyard::worker
