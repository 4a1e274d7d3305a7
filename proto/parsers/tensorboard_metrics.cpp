#include "proto/parsers/tensorboard_metrics.h"

#include <bit>
#include <cstring>
#include <map>
#include <utility>

#include "proto/contract/limits.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/parsers/log_fields.h"
#include "proto/parsers/tf_record.h"
#include "re2/re2.h"
#include "trainyard/v1/tensorboard_event.pb.h"

namespace trainyard {
namespace {

constexpr int kFloatType = 1;

std::optional<double> ScalarOf(const v1::TensorboardValue& value) {
  if (value.has_simple_value()) return value.simple_value();
  const v1::TensorboardTensor& tensor = value.tensor();
  if (!value.has_tensor() || tensor.dtype() != kFloatType) return std::nullopt;
  if (tensor.float_val_size() == 1) return tensor.float_val(0);
  static_assert(std::endian::native == std::endian::little);
  float number = 0;
  if (tensor.tensor_content().size() != sizeof number) return std::nullopt;
  std::memcpy(&number, tensor.tensor_content().data(), sizeof number);
  return number;
}

// Names under which Megatron-LM, Hugging Face, Lightning and others write well-known metrics.
std::string NameOfTag(const std::string& name) {
  static const std::map<std::string, std::string> kNames = {
      {"lm_loss", telemetry::kLoss},
      {"train_loss", telemetry::kLoss},
      {"train_loss_step", telemetry::kLoss},
      {"lr", telemetry::kLearningRate},
      {"learning-rate", telemetry::kLearningRate},
      {"learning_rate", telemetry::kLearningRate},
      {"grad-norm", telemetry::kGradNorm},
      {"grad_norm", telemetry::kGradNorm}};
  const auto known = kNames.find(name);
  return known == kNames.end() ? name : known->second;
}

void SetTag(const std::string& tag, double value, v1::MetricsRecord& record) {
  // Megatron-LM writes the same metrics again with samples or seconds as steps.
  static const RE2 kOtherAxis(R"(.* vs .*)");
  static const RE2 kTrain(R"((?:train|training)/(.+))");
  static const RE2 kEvaluation(R"((?:eval|val|valid|validation)[/_]loss)");
  static const RE2 kEvaluationSet(R"((?:eval|val|valid|validation)[/_](.+)[/_]loss)");
  if (RE2::FullMatch(tag, kOtherAxis)) return;
  std::string part;
  if (RE2::FullMatch(tag, kEvaluation)) return SetEvaluationLoss(record, "val", value);
  if (RE2::FullMatch(tag, kEvaluationSet, &part)) return SetEvaluationLoss(record, part, value);
  const std::string& name = RE2::FullMatch(tag, kTrain, &part) ? part : tag;
  SetValue(record, NameOfTag(MetricName(name)), value);
}

// Adds the numbers of an event to the step. Events without numbers leave it unchanged.
void AddEvent(const v1::TensorboardEvent& event, std::optional<TensorboardStep>& step) {
  for (const v1::TensorboardValue& value : event.summary().value()) {
    const std::optional<double> number = ScalarOf(value);
    if (!number.has_value()) continue;
    if (!step.has_value()) {
      step.emplace();
      step->metrics.set_step(event.step());
      step->time_ms = static_cast<int64_t>(event.wall_time() * 1e3);
    }
    SetTag(value.tag(), *number, step->metrics);
  }
}

void AddStep(std::optional<TensorboardStep>& step, TensorboardSteps& result) {
  if (step.has_value() && step->metrics.values_size() > 0) {
    result.steps.push_back(*std::move(step));
  }
  step.reset();
}

bool HasValidStep(const v1::TensorboardEvent& event) {
  constexpr double kLatestSeconds = 1e11;
  return event.step() >= 0 && event.step() <= kMaxStep && event.wall_time() >= 0 &&
         event.wall_time() < kLatestSeconds;
}

}  // namespace

TensorboardSteps ReadTensorboardSteps(std::string_view bytes, bool idle) {
  TensorboardSteps result;
  std::optional<TensorboardStep> step;
  uint64_t position = 0;
  while (position < bytes.size()) {
    const TfRecordResult record = ReadTfRecord(bytes.substr(position));
    if (record.kind == TfRecordResult::Kind::kIncomplete) break;
    v1::TensorboardEvent event;
    const bool is_readable =
        record.kind == TfRecordResult::Kind::kSkipped ||
        (record.kind == TfRecordResult::Kind::kRecord &&
         event.ParseFromArray(record.content.data(), static_cast<int>(record.content.size())) &&
         HasValidStep(event));
    if (!is_readable) {
      result.damage = "a record is damaged";
      AddStep(step, result);
      result.bytes = position;
      return result;
    }
    if (event.has_summary() && step.has_value() && event.step() != step->metrics.step()) {
      AddStep(step, result);
      result.bytes = position;
    }
    AddEvent(event, step);
    position += record.size;
    if (!step.has_value()) result.bytes = position;
  }
  if (idle && step.has_value()) {
    AddStep(step, result);
    result.bytes = position;
  }
  return result;
}

}  // namespace trainyard
