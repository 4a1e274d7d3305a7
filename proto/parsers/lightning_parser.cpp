#include "proto/parsers/lightning_parser.h"

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

using Fields = std::map<std::string, double>;

// Returns the fields "name=value" of a bar, or "name: value" between vertical bars.
Fields FieldsOf(StringPiece text, const RE2& pattern) {
  Fields fields;
  StringPiece name;
  StringPiece value;
  while (RE2::FindAndConsume(&text, pattern, &name, &value)) {
    if (const std::optional<double> number = ToNumber(value)) fields[name.as_string()] = *number;
  }
  return fields;
}

const char* KnownName(const std::string& name) {
  static const std::map<std::string, const char*> kKnown = {
      {"learning_rate", telemetry::kLearningRate},
      {"consumed_tokens", telemetry::kTokens},
      {"train_step_timing in s", telemetry::kStepSeconds},
      {"global_batch_size", "global_batch"}};
  const auto known = kKnown.find(name);
  return known == kKnown.end() ? nullptr : known->second;
}

// Programs name the training loss themselves. The first of these names that occurs is the loss.
const char* LossName(const Fields& fields) {
  for (const char* name : {"reduced_train_loss", "train_loss_step", "train_loss", "loss"}) {
    if (fields.contains(name)) return name;
  }
  return "";
}

std::optional<v1::MetricsRecord> RecordOf(int64_t step, int64_t total_steps, const Fields& fields) {
  v1::MetricsRecord record;
  const auto own = fields.find("global_step");
  const bool is_named = own != fields.end() && 0 <= own->second && own->second < 1e12;
  record.set_step(is_named ? static_cast<int64_t>(own->second) : step);
  record.set_total_steps(total_steps);
  const std::string loss = LossName(fields);
  for (const auto& [name, value] : fields) {
    if (name == "global_step" || name == "v_num") continue;
    const char* known = KnownName(name);
    if (name == loss) {
      SetValue(record, telemetry::kLoss, value);
    } else if (name == "val_loss") {
      SetEvaluationLoss(record, "val", value);
    } else {
      SetValue(record, known == nullptr ? MetricName(name) : known, value);
    }
  }
  return Finish(std::move(record));
}

// Returns the step after `position` batches of a pass over the data; nullopt for an implausible
// number.
std::optional<int64_t> StepOf(int64_t pass, int64_t position, int64_t total) {
  constexpr int64_t kMostPasses = 1'000'000;
  constexpr int64_t kMostBatches = 1'000'000'000;
  if (pass > kMostPasses || total > kMostBatches || position > total) return std::nullopt;
  return pass * total + position;
}

}  // namespace

bool LightningParser::MayHoldRecord(std::string_view line) const {
  return line.find("poch ") != std::string_view::npos;
}

std::optional<v1::MetricsRecord> LightningParser::ParseText(const std::string& text,
                                                            LineContext& /*context*/) const {
  static const RE2 kBar(
      R"(^\s*Epoch (\d+): (?:: )?\s*\d{1,3}%\|[^|]*\|\s*(\d+)/(\d+) \[([^\]]*)\])");
  static const RE2 kBarField(R"(([A-Za-z_][^=,\]]*)=()" TRAINYARD_NUMBER R"())");
  static const RE2 kLine(R"(^\s*Training epoch (\d+), iteration (\d+)/(\d+)\s*(\|.*))");
  static const RE2 kLineField(R"(\|\s*([A-Za-z_][^:|]*):\s*()" TRAINYARD_NUMBER R"())");
  StringPiece pass;
  StringPiece position;
  StringPiece total;
  StringPiece rest;
  const bool is_bar = RE2::PartialMatch(text, kBar, &pass, &position, &total, &rest);
  if (!is_bar && !RE2::PartialMatch(text, kLine, &pass, &position, &total, &rest)) {
    return std::nullopt;
  }
  // NeMo counts iterations from 0 up to the last one.
  const int64_t first = is_bar ? 0 : 1;
  const std::optional<int64_t> step = StepOf(ToStep(pass).value_or(0), ToStep(position).value_or(0),
                                             ToStep(total).value_or(0) + first);
  if (!step.has_value()) return std::nullopt;
  return RecordOf(*step + first, is_bar ? 0 : ToStep(total).value_or(0) + first,
                  FieldsOf(rest, is_bar ? kBarField : kLineField));
}

}  // namespace trainyard
