#include "proto/parsers/log_parser.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/contract/limits.h"
#include "proto/contract/metric_factor.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/parsers/deepspeed_parser.h"
#include "proto/parsers/hugging_face_parser.h"
#include "proto/parsers/lightning_parser.h"
#include "proto/parsers/log_fields.h"
#include "proto/parsers/olmo_parser.h"
#include "proto/parsers/step_line_parsers.h"
#include "proto/support/status_macros.h"
#include "re2/re2.h"

namespace trainyard {
namespace {

using re2::RE2;
using re2::StringPiece;

// Parses the output of Megatron-LM, Megatron-DeepSpeed and GPT-NeoX:
//   " iteration      100/  500000 | consumed samples: 6400 | elapsed time per iteration (ms): 12.3
//   |
//    learning rate: 1.0E-04 | lm loss: 6.5E+00 | loss scale: 1.0 | grad norm: 1.2 |"
//   " validation loss at iteration 1000 | lm loss value: 3.2E+00 | lm loss PPL: 2.4E+01 | "
class MegatronParser : public LogParser {
 public:
  explicit MegatronParser(int world_size) : world_size_(world_size) {}

 protected:
  bool MayHoldRecord(std::string_view line) const override {
    return line.find("iteration ") != std::string_view::npos;
  }

  std::optional<v1::MetricsRecord> ParseText(const std::string& text,
                                             LineContext& /*context*/) const override {
    static const RE2 kIteration(R"((?:^|[\s|\]:>])iteration\s+(\d+)/\s*(\d+)\s*\|)");
    static const RE2 kValidation(R"(validation loss at iteration (\d+)(?: on (\w+) set)?\s*\|)");
    StringPiece step;
    StringPiece set;
    const bool may_be_validation = text.find("validation") != std::string::npos;
    if (may_be_validation && RE2::PartialMatch(text, kValidation, &step, &set)) {
      return ParseValidation(text, step, set == "test" ? "test" : "val");
    }
    StringPiece found[3];  // The step with its total, the step, and the total.
    if (!kIteration.Match(text, 0, text.size(), RE2::UNANCHORED, found, 3)) return std::nullopt;
    // The step is not a metric. Some programs print other fields before it.
    const auto begin = static_cast<std::size_t>(found[0].data() - text.data());
    const std::string_view before = std::string_view(text).substr(0, begin);
    const std::string_view after = std::string_view(text).substr(begin + found[0].size());
    return ParseIteration(before, after, found[1], found[2]);
  }

 private:
  // Calls `visit(name, value)` for each field "name: value |" or "name value |".
  template <typename Visit>
  static void ForEachField(std::string_view text, Visit visit) {
    while (!text.empty()) {
      const std::size_t bar = std::min(text.find('|'), text.size());
      if (const std::optional<NamedNumber> field = ReadNamedNumber(text.substr(0, bar))) {
        visit(MetricName(StringPiece(field->name.data(), field->name.size())), field->value);
      }
      text.remove_prefix(std::min(bar + 1, text.size()));
    }
  }

  std::optional<v1::MetricsRecord> ParseIteration(std::string_view before, std::string_view after,
                                                  StringPiece step, StringPiece total_steps) const {
    const std::optional<int64_t> completed = ToStep(step);
    if (!completed.has_value()) return std::nullopt;
    v1::MetricsRecord record;
    record.set_step(*completed);
    record.set_total_steps(ToStep(total_steps).value_or(0));
    for (const std::string_view text : {before, after}) {
      ForEachField(text,
                   [&](const std::string& name, double value) { SetField(record, name, value); });
    }
    AddMissingLoss(record);
    return Finish(std::move(record));
  }

  // Megatron-LM prints no loss if no iteration since the last line had a finite loss.
  static void AddMissingLoss(v1::MetricsRecord& record) {
    const auto nan_iterations = record.values().find(telemetry::kNanIterations);
    const bool had_nan = nan_iterations != record.values().end() && nan_iterations->second > 0;
    if (!had_nan || record.values().contains(telemetry::kLoss)) return;
    SetValue(record, telemetry::kLoss, std::numeric_limits<double>::quiet_NaN());
  }

  void SetField(v1::MetricsRecord& record, const std::string& name, double value) const {
    static const std::map<std::string, std::string> kKnown = {
        {"lm_loss", telemetry::kLoss},
        {"learning_rate", telemetry::kLearningRate},
        {"consumed_tokens", telemetry::kTokens},
        {"global_batch_size", "global_batch"},
        {"throughput_per_gpu_tflop/s/gpu", "tflops"}};
    if (name == "elapsed_time_per_iteration_ms") {
      SetValue(record, telemetry::kStepSeconds, value / 1000);
    } else if (name == "throughput_token/sec/gpu") {
      SetValue(record, telemetry::kTokensPerSecond, value * world_size_);
    } else {
      const auto known = kKnown.find(name);
      SetValue(record, known == kKnown.end() ? name : known->second, value);
    }
  }

  static std::optional<v1::MetricsRecord> ParseValidation(const std::string& text, StringPiece step,
                                                          const std::string& set) {
    const std::optional<int64_t> completed = ToStep(step);
    if (!completed.has_value()) return std::nullopt;
    v1::MetricsRecord record;
    record.set_step(*completed);
    ForEachField(text, [&](const std::string& name, double value) {
      if (name == "lm_loss_value") SetEvaluationLoss(record, set, value);
      if (name == "lm_loss_ppl") SetValue(record, set + "_ppl", value);
    });
    return Finish(std::move(record));
  }

  const int world_size_;
};

// Parses the output of torchtitan. Lines may be colored and follow the logger's prefix:
//   "step: 10  loss:  7.1234  grad_norm:  1.2  memory:  1.20GiB(3.00%)  tps: 1,234  tflops: 12.34
//    mfu: 4.50%"
//   "validate step: 10  loss: ..."
class TorchtitanParser : public LogParser {
 public:
  explicit TorchtitanParser(int world_size) : world_size_(world_size) {}

 protected:
  bool MayHoldRecord(std::string_view line) const override {
    return line.find("step:") != std::string_view::npos;
  }

  std::optional<v1::MetricsRecord> ParseText(const std::string& text,
                                             LineContext& /*context*/) const override {
    static const RE2 kStep(R"((?:^|\s)(validate )?step:\s*(\d+)\s)");
    static const RE2 kField(R"((\w+):\s*()" TRAINYARD_NUMBER R"()(GiB|%)?)");
    StringPiece rest(text);
    StringPiece validate;
    StringPiece step;
    if (!RE2::FindAndConsume(&rest, kStep, &validate, &step)) return std::nullopt;
    const std::optional<int64_t> completed = ToStep(step);
    if (!completed.has_value()) return std::nullopt;
    v1::MetricsRecord record;
    record.set_step(*completed);
    StringPiece name;
    StringPiece value;
    StringPiece unit;
    while (RE2::FindAndConsume(&rest, kField, &name, &value, &unit)) {
      const std::optional<double> number = ToNumber(value);
      if (!number.has_value() || IsNoLoss(name, *number)) continue;
      if (validate.empty()) {
        SetField(record, MetricName(name), *number, unit);
      } else if (name == "loss") {
        SetEvaluationLoss(record, "val", *number);
      }
    }
    return Finish(std::move(record));
  }

 private:
  // With pipeline parallelism, every rank outside the last stage prints a loss of -1. Such a value
  // is not a loss.
  static bool IsNoLoss(StringPiece name, double value) { return name == "loss" && value == -1; }

  void SetField(v1::MetricsRecord& record, const std::string& name, double value,
                StringPiece unit) const {
    constexpr double kGibibyte = 1 << 30;
    if (name == "memory" && unit == "GiB") {
      SetValue(record, telemetry::kMemoryBytes, value * kGibibyte);
    } else if (name == "tps") {
      SetValue(record, telemetry::kTokensPerSecond,
               value * world_size_);  // The value is reported per device.
    } else if (unit == "%") {
      SetValue(record, name, value / 100);
    } else {
      SetValue(record, name, value);
    }
  }

  const int world_size_;
};

// Parses the output of nanoGPT:
//   "iter 100: loss 3.1234, time 45.67ms, mfu 12.34%"
//   "step 250: train loss 3.1000, val loss 3.2000"
class NanogptParser : public LogParser {
 protected:
  bool MayHoldRecord(std::string_view line) const override {
    return line.find(" loss ") != std::string_view::npos;
  }

  std::optional<v1::MetricsRecord> ParseText(const std::string& text,
                                             LineContext& /*context*/) const override {
    static const RE2 kIteration(R"(^\s*iter (\d+): loss ()" TRAINYARD_NUMBER
                                R"()(?:, time ()" TRAINYARD_NUMBER
                                R"()ms)?(?:, mfu ()" TRAINYARD_NUMBER R"()%)?)");
    static const RE2 kEvaluation(R"(^\s*step (\d+): train loss ()" TRAINYARD_NUMBER
                                 R"(), val loss ()" TRAINYARD_NUMBER ")");
    StringPiece step;
    StringPiece values[3];
    if (RE2::PartialMatch(text, kIteration, &step, &values[0], &values[1], &values[2])) {
      return Iteration(step, values);
    }
    if (!RE2::PartialMatch(text, kEvaluation, &step, &values[0], &values[1])) return std::nullopt;
    v1::MetricsRecord record;
    Set(record, "train_loss", values[0], 1);
    Set(record, "val_loss", values[1], 1);
    return WithStep(std::move(record), step);
  }

 private:
  static std::optional<v1::MetricsRecord> Iteration(StringPiece step, const StringPiece* values) {
    v1::MetricsRecord record;
    Set(record, telemetry::kLoss, values[0], 1);
    Set(record, telemetry::kStepSeconds, values[1], 1e-3);
    // nanoGPT prints -100 % if the MFU has not been measured yet.
    if (ToNumber(values[2]).value_or(-1) >= 0) Set(record, telemetry::kMfu, values[2], 1e-2);
    return WithStep(std::move(record), step);
  }

  static void Set(v1::MetricsRecord& record, const char* name, StringPiece text, double scale) {
    if (const std::optional<double> number = ToNumber(text)) {
      SetValue(record, name, *number * scale);
    }
  }

  static std::optional<v1::MetricsRecord> WithStep(v1::MetricsRecord record, StringPiece step) {
    const std::optional<int64_t> completed = ToStep(step);
    if (!completed.has_value()) return std::nullopt;
    record.set_step(*completed);
    return Finish(std::move(record));
  }
};

// Uses the job's own pattern. Each named group is a metric.
class RegexParser : public LogParser {
 public:
  explicit RegexParser(std::unique_ptr<RE2> pattern) : pattern_(std::move(pattern)) {}

 protected:
  std::optional<v1::MetricsRecord> ParseText(const std::string& text,
                                             LineContext& /*context*/) const override {
    std::vector<StringPiece> groups(static_cast<std::size_t>(pattern_->NumberOfCapturingGroups()) +
                                    1);
    if (!pattern_->Match(text, 0, text.size(), RE2::UNANCHORED, groups.data(),
                         static_cast<int>(groups.size()))) {
      return std::nullopt;
    }
    v1::MetricsRecord record;
    bool has_step = false;
    for (const auto& [name, index] : pattern_->NamedCapturingGroups()) {
      const StringPiece value = groups[static_cast<std::size_t>(index)];
      if (name == "step") {
        const std::optional<int64_t> step = ToStep(value);
        has_step = step.has_value();
        record.set_step(step.value_or(0));
      } else if (name == telemetry::kTotalSteps) {
        record.set_total_steps(ToStep(value).value_or(0));
      } else if (const std::optional<double> number = ToNumber(value)) {
        SetValue(record, name, *number);
      }
    }
    return has_step ? Finish(std::move(record)) : std::nullopt;
  }

 private:
  const std::unique_ptr<RE2> pattern_;
};

absl::Status BadPattern(const std::string& cause) {
  return absl::InvalidArgumentError(absl::StrCat("log_parser.pattern: ", cause));
}

absl::StatusOr<std::unique_ptr<LogParser>> MakeRegexParser(const std::string& pattern) {
  constexpr std::size_t kMaxPatternBytes = 4096;
  constexpr int64_t kMaxPatternMemory = 8 << 20;
  if (pattern.size() > kMaxPatternBytes) {
    return BadPattern(absl::StrCat("longer than ", kMaxPatternBytes, " bytes"));
  }
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxPatternMemory);
  auto compiled = std::make_unique<RE2>(pattern, options);
  if (!compiled->ok()) return BadPattern(compiled->error());
  const auto& groups = compiled->NamedCapturingGroups();
  if (groups.count("step") == 0) {
    return BadPattern("there is no group named `step`; add (?P<step>\\d+)");
  }
  if (groups.size() - groups.count(telemetry::kStep) - groups.count(telemetry::kTotalSteps) == 0) {
    return BadPattern("there is no named group besides `step`; add one, such as (?P<loss>[0-9.]+)");
  }
  for (const auto& [name, index] : groups) {
    if (name.size() > kMaxTelemetryKeyBytes) return BadPattern("a group's name is too long");
  }
  return std::make_unique<RegexParser>(std::move(compiled));
}

}  // namespace

int ParsedRank(const v1::LogParserSpec& spec, int world_size) {
  return spec.rank() < 0 ? world_size + spec.rank() : spec.rank();
}

namespace {

absl::StatusOr<std::unique_ptr<LogParser>> MakeUnscaledParser(const v1::LogParserSpec& spec,
                                                              int world_size) {
  switch (spec.kind()) {
    case v1::LOG_PARSER_KIND_MEGATRON:
      return std::make_unique<MegatronParser>(world_size);
    case v1::LOG_PARSER_KIND_TORCHTITAN:
      return std::make_unique<TorchtitanParser>(world_size);
    case v1::LOG_PARSER_KIND_NANOGPT:
      return std::make_unique<NanogptParser>();
    case v1::LOG_PARSER_KIND_HUGGING_FACE:
      return std::make_unique<HuggingFaceParser>();
    case v1::LOG_PARSER_KIND_OLMO:
      return std::make_unique<OlmoParser>(world_size);
    case v1::LOG_PARSER_KIND_LIGHTNING:
      return std::make_unique<LightningParser>();
    case v1::LOG_PARSER_KIND_DEEPSPEED:
      return std::make_unique<DeepSpeedParser>();
    case v1::LOG_PARSER_KIND_LLM_C:
      return std::make_unique<LlmCParser>();
    case v1::LOG_PARSER_KIND_NANOCHAT:
      return std::make_unique<NanochatParser>();
    case v1::LOG_PARSER_KIND_REGEX:
      return MakeRegexParser(spec.pattern());
    default:
      return absl::InvalidArgumentError("log_parser.kind is not the name of a parser");
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<LogParser>> MakeLogParser(const v1::LogParserSpec& spec,
                                                         int world_size) {
  TRAINYARD_ASSIGN_OR_RETURN(std::unique_ptr<LogParser> parser,
                             MakeUnscaledParser(spec, world_size));
  std::map<std::string, double> scale;
  for (const std::string& entry : spec.scale()) {
    const std::optional<MetricFactor> factor = ParseMetricFactor(entry);
    if (!factor.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("log_parser.scale: ", entry, " is not of the form METRIC=FACTOR"));
    }
    scale[factor->metric] = factor->factor;
  }
  parser->SetScale(std::move(scale));
  return parser;
}

std::unique_ptr<LogParser> MakeLauncherParser() {
  class NoMetrics : public LogParser {
   protected:
    bool MayHoldRecord(std::string_view /*line*/) const override { return false; }
    std::optional<v1::MetricsRecord> ParseText(const std::string& /*text*/,
                                               LineContext& /*context*/) const override {
      return std::nullopt;
    }
  };
  return std::make_unique<NoMetrics>();
}

}  // namespace trainyard
