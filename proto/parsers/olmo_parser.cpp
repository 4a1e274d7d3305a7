#include "proto/parsers/olmo_parser.h"

#include <cstdint>
#include <map>
#include <utility>

#include "proto/contract/telemetry_keys.h"
#include "proto/parsers/log_fields.h"
#include "re2/re2.h"

namespace trainyard {
namespace {

using re2::RE2;
using re2::StringPiece;

// Returns the well-known name of a metric whose value needs no conversion, or its own name. OLMo
// and OLMo-core use different names.
std::string NameOf(const std::string& name) {
  static const std::map<std::string, std::string> kKnown = {
      {"train/CrossEntropyLoss", telemetry::kLoss},
      {"train/CE loss", telemetry::kLoss},
      {"train/Perplexity", telemetry::kPerplexity},
      {"train/PPL", telemetry::kPerplexity},
      {"optim/total_grad_norm", telemetry::kGradNorm},
      {"optim/total grad norm", telemetry::kGradNorm},
      {"optim/learning_rate_group0", telemetry::kLearningRate},
      {"optim/LR (group 0)", telemetry::kLearningRate},
      {"optim/LR", telemetry::kLearningRate},
      {"throughput/total_tokens", telemetry::kTokens},
      {"throughput/total tokens", telemetry::kTokens}};
  const auto known = kKnown.find(name);
  return known == kKnown.end() ? MetricName(name) : known->second;
}

// Sets the metric if it is the loss or the perplexity on an evaluation set. Returns false for other
// metrics.
bool SetEvaluation(const std::string& name, double value, v1::MetricsRecord& record) {
  static const RE2 kEvaluation(
      R"((?:eval/)?(?:[^/]+/)*([^/]+)/(?:(CrossEntropyLoss|CE loss)|(Perplexity|PPL)))");
  std::string set;
  std::string loss;
  if (!RE2::FullMatch(name, kEvaluation, &set, &loss) || set == "train") return false;
  if (loss.empty()) {
    SetValue(record, MetricName(telemetry::EvaluationPerplexity(set)), value);
  } else {
    SetEvaluationLoss(record, set, value);
  }
  return true;
}

// Reads the line with the step. Returns false for other lines.
bool TakeStep(const std::string& text, LineContext& context) {
  static const RE2 kStep(R"(\[step=(\d+)/(\d+|\?+),epoch=\d+[,\]])");
  StringPiece step;
  StringPiece total;
  if (!RE2::PartialMatch(text, kStep, &step, &total)) return false;
  context.step = ToStep(step).value_or(-1);
  context.total_steps = ToStep(total).value_or(0);
  return true;
}

}  // namespace

bool OlmoParser::MayHoldRecord(std::string_view line) const {
  return line.find('=') != std::string_view::npos;
}

std::optional<v1::MetricsRecord> OlmoParser::ParseText(const std::string& text,
                                                       LineContext& context) const {
  // A metric has a group, or a label in parentheses. Settings that a program prints, such as
  // "seed=1", have neither.
  static const RE2 kMetric(
      R"(\s*([A-Za-z][^=/\[\]]*(?:(?:/[^=/\[\]]+)+|\([^()]+\)))=()" TRAINYARD_NUMBER R"()\s*)");
  StringPiece name;
  StringPiece value;
  const bool is_step = TakeStep(text, context);
  if (!is_step && !RE2::FullMatch(text, kMetric, &name, &value)) return std::nullopt;
  if (context.step < 0) return std::nullopt;
  v1::MetricsRecord record;
  record.set_step(context.step);
  record.set_total_steps(context.total_steps);
  // Return the step even without metrics, because a step is progress. OLMo-core may print metrics
  // less often.
  if (is_step) return record;
  const std::optional<double> number = ToNumber(value);
  if (number.has_value()) SetField(std::string(name), *number, record);
  return Finish(std::move(record));
}

void OlmoParser::SetField(const std::string& name, double value, v1::MetricsRecord& record) const {
  constexpr double kMegabyte = 1e6;
  if (name == "throughput/device/tokens_per_second" || name == "throughput/device/TPS") {
    SetValue(record, telemetry::kTokensPerSecond, value * world_size_);
  } else if (name == "throughput/device/batches_per_second" || name == "throughput/device/BPS") {
    if (value > 0) SetValue(record, telemetry::kStepSeconds, 1 / value);
  } else if (name == "throughput/device/MFU") {
    SetValue(record, telemetry::kMfu, value / 100);
  } else if (name == "System/Peak GPU Memory (MB)") {
    SetValue(record, telemetry::kMemoryBytes, value * kMegabyte);
  } else if (!SetEvaluation(name, value, record)) {
    SetValue(record, NameOf(name), value);
  }
}

}  // namespace trainyard
