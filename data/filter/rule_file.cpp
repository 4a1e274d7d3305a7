#include "data/filter/rule_file.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "data/filter/language.h"
#include "data/filter/presets.h"
#include "proto/support/status_macros.h"
#include "proto/text/number_text.h"
#include "proto/text/utf8.h"
#include "yaml-cpp/yaml.h"

namespace trainyard::data {
namespace {

constexpr size_t kMaxFileBytes = size_t{1} << 20;
constexpr double kMaxLength = 1e9;
constexpr size_t kMaxReplacement = 100;  // bytes

std::string RuleNames() {
  std::vector<std::string> names{kC4LinesName, kLanguageName, kNfcName, kPersonalDataName};
  for (size_t i = 0; i < kSignalCount; ++i) {
    names.emplace_back(InfoOf(static_cast<Signal>(i)).name);
  }
  return absl::StrJoin(names, ", ");
}

absl::Status UnknownLanguage(const std::string& code) {
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown language `", code, "`; use a code of ISO 639 that CLD2 knows, such as en or fr"));
}

// Parses a text such as "language=en:0.65".
absl::StatusOr<LanguageRule> ParseLanguage(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text.substr(text.find('=') + 1), ':');
  LanguageRule rule{parts.front(), 0, 0};
  if (parts.size() != 2 || !absl::SimpleAtod(parts.back(), &rule.min) ||
      !(rule.min >= 0 && rule.min <= 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("`", text, "` must be language=CODE:FRACTION, such as language=en:0.65"));
  }
  const std::optional<int> number = LanguageNumber(rule.code);
  if (!number.has_value()) return UnknownLanguage(rule.code);
  rule.number = *number;
  return rule;
}

absl::Status AddPreset(const std::string& name, FilterProgram& program) {
  const std::vector<FilterStep>* steps = FindPreset(name);
  if (steps == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("unknown preset `", name, "`; the presets are ",
                                                   absl::StrJoin(PresetNames(), ", ")));
  }
  for (const FilterStep& step : *steps) program.Add(step);
  return absl::OkStatus();
}

class RuleFileReader {
 public:
  explicit RuleFileReader(const std::string& display_name) : name_(display_name) {}

  absl::StatusOr<FilterProgram> Read(const YAML::Node& file) {
    if (!file.IsMap()) return Error(file, "must be a mapping with `presets`, `rules` or both");
    for (const auto& entry : file) {
      const std::string key = Text(entry.first);
      if (key != "presets" && key != "rules") {
        return Error(entry.first, absl::StrCat("unknown key `", key, "`; use presets or rules"));
      }
      if (!entry.second.IsSequence()) {
        return Error(entry.first, absl::StrCat("`", key, "` must be a list"));
      }
      if (!keys_.insert(key).second) return Error(entry.first, absl::StrCat("second `", key, "`"));
    }
    if (file["presets"]) TRAINYARD_RETURN_IF_ERROR(ReadPresets(file["presets"]));
    if (file["rules"]) TRAINYARD_RETURN_IF_ERROR(ReadSteps(file["rules"]));
    if (program_.steps().empty()) return Error(file, "has no rules");
    return std::move(program_);
  }

 private:
  absl::Status Error(const YAML::Node& node, const std::string& problem) const {
    const YAML::Mark mark = node.Mark();
    const std::string line = mark.is_null() ? "" : absl::StrCat(":", mark.line + 1);
    return absl::InvalidArgumentError(absl::StrCat(name_, line, ": ", problem));
  }

  // Returns "" for a node that is not a scalar.
  static std::string Text(const YAML::Node& node) { return node.IsScalar() ? node.Scalar() : ""; }

  absl::Status ReadPresets(const YAML::Node& presets) {
    for (const YAML::Node& preset : presets) {
      const absl::Status added = AddPreset(Text(preset), program_);
      if (!added.ok()) return Error(preset, std::string(added.message()));
    }
    return absl::OkStatus();
  }

  absl::Status ReadSteps(const YAML::Node& steps) {
    for (const YAML::Node& step : steps) {
      if (step.IsScalar() && step.Scalar() == kNfcName) {
        program_.Replace(NfcEdit{});
        continue;
      }
      if (step.IsScalar() && step.Scalar() == kPersonalDataName) {
        program_.Replace(PersonalDataEdit{});
        continue;
      }
      if (!step.IsMap() || step.size() != 1) {
        return Error(step,
                     "an item of `rules` must be `nfc`, `personal_data` or `NAME: {min: NUMBER, "
                     "max: NUMBER}`");
      }
      const auto entry = *step.begin();
      TRAINYARD_RETURN_IF_ERROR(ReadStep(entry.first, entry.second));
    }
    return absl::OkStatus();
  }

  absl::Status ReadStep(const YAML::Node& name, const YAML::Node& settings) {
    const std::string text = Text(name);
    const std::optional<Signal> signal = SignalNamed(text);
    const bool is_other =
        text == kC4LinesName || text == kLanguageName || text == kPersonalDataName;
    if (!signal.has_value() && !is_other) {
      return Error(name, absl::StrCat("unknown rule `", text, "`; the rules are ", RuleNames()));
    }
    if (!settings.IsMap()) {
      return Error(name, absl::StrCat("`", text, "` must have settings, such as {max: 0.5}"));
    }
    rule_ = text;
    std::set<std::string> seen;
    for (const auto& entry : settings) {
      if (seen.insert(Text(entry.first)).second) continue;
      return Error(entry.first, absl::StrCat("`", text, "` sets `", Text(entry.first), "` twice"));
    }
    if (signal.has_value()) return ReadRule(name, *signal, settings);
    if (text == kPersonalDataName) return ReadPersonalData(name, settings);
    return text == kLanguageName ? ReadLanguage(name, settings) : ReadC4Lines(settings);
  }

  absl::Status ReadRule(const YAML::Node& name, Signal signal, const YAML::Node& settings) {
    Rule rule{signal, std::nullopt, std::nullopt};
    const bool has_length = signal == Signal::kShortLines || signal == Signal::kLongLines;
    for (const auto& entry : settings) {
      const std::string key = Text(entry.first);
      if (key == "length" && has_length) {
        TRAINYARD_RETURN_IF_ERROR(ReadLength(entry.second, signal));
      } else if (key == "min" || key == "max") {
        std::optional<double>& threshold = key == "min" ? rule.min : rule.max;
        TRAINYARD_ASSIGN_OR_RETURN(threshold,
                                   ReadNumber(entry.second, key, InfoOf(signal).largest_threshold));
      } else {
        const char* keys = has_length ? "min, max or length" : "min or max";
        return UnknownSetting(entry.first, keys);
      }
    }
    if (!rule.min.has_value() && !rule.max.has_value()) {
      return Error(name, absl::StrCat("`", rule_, "` needs min, max or both"));
    }
    if (rule.min.has_value() && rule.max.has_value() && *rule.min > *rule.max) {
      return Error(name, absl::StrCat("`", rule_, "`: min ", NumberText(*rule.min),
                                      " is larger than max ", NumberText(*rule.max)));
    }
    program_.Replace(rule);
    return absl::OkStatus();
  }

  absl::Status ReadLength(const YAML::Node& node, Signal signal) {
    TRAINYARD_ASSIGN_OR_RETURN(const uint64_t length, ReadWhole(node, "length"));
    if (signal == Signal::kShortLines) {
      program_.SetShortLength(length);
    } else {
      program_.SetLongLength(length);
    }
    return absl::OkStatus();
  }

  absl::Status ReadLanguage(const YAML::Node& name, const YAML::Node& settings) {
    LanguageRule rule{"", 0, -1};
    for (const auto& entry : settings) {
      const std::string key = Text(entry.first);
      if (key == "code") {
        rule.code = Text(entry.second);
        const std::optional<int> number = LanguageNumber(rule.code);
        if (!number.has_value()) {
          return Error(entry.second, std::string(UnknownLanguage(rule.code).message()));
        }
        rule.number = *number;
      } else if (key == "min") {
        TRAINYARD_ASSIGN_OR_RETURN(rule.min, ReadNumber(entry.second, key, 1));
      } else {
        return UnknownSetting(entry.first, "code and min");
      }
    }
    if (rule.code.empty() || rule.min < 0) {
      return Error(name, absl::StrCat("`", rule_, "` needs code and min"));
    }
    program_.Replace(rule);
    return absl::OkStatus();
  }

  absl::Status ReadC4Lines(const YAML::Node& settings) {
    C4LineRules rules;
    for (const auto& entry : settings) {
      const std::string key = Text(entry.first);
      if (key == "end_punctuation") {
        const std::string value = Text(entry.second);
        if (value != "true" && value != "false") {
          return Error(entry.second, absl::StrCat("`", rule_, "`: end_punctuation is `", value,
                                                  "`; use true or false"));
        }
        rules.end_punctuation = value == "true";
      } else if (key == "min_words") {
        TRAINYARD_ASSIGN_OR_RETURN(rules.min_words, ReadWhole(entry.second, key));
      } else if (key == "max_word_length") {
        TRAINYARD_ASSIGN_OR_RETURN(rules.max_word_length, ReadWhole(entry.second, key));
      } else {
        return UnknownSetting(entry.first, "end_punctuation, min_words or max_word_length");
      }
    }
    program_.Replace(rules);
    return absl::OkStatus();
  }

  // Kinds of addresses that are not named stay in the text.
  absl::Status ReadPersonalData(const YAML::Node& name, const YAML::Node& settings) {
    PersonalDataEdit edit{std::nullopt, std::nullopt, std::nullopt};
    for (const auto& entry : settings) {
      const std::string key = Text(entry.first);
      if (key == "email") {
        TRAINYARD_ASSIGN_OR_RETURN(edit.email, ReadReplacement(entry.second, key));
      } else if (key == "ipv4") {
        TRAINYARD_ASSIGN_OR_RETURN(edit.ipv4, ReadReplacement(entry.second, key));
      } else if (key == "ipv6") {
        TRAINYARD_ASSIGN_OR_RETURN(edit.ipv6, ReadReplacement(entry.second, key));
      } else {
        return UnknownSetting(entry.first, "email, ipv4 or ipv6");
      }
    }
    if (!edit.email && !edit.ipv4 && !edit.ipv6) {
      return Error(name, absl::StrCat("`", rule_, "` needs email, ipv4 or ipv6"));
    }
    program_.Replace(edit);
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> ReadReplacement(const YAML::Node& node,
                                              const std::string& key) const {
    const std::string text = Text(node);
    const bool is_printable = std::all_of(text.begin(), text.end(), [](char c) {
      return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
    });
    if (node.IsScalar() && is_printable && text.size() <= kMaxReplacement) return text;
    return Error(
        node, absl::StrCat("`", rule_, "`: ", key, " must be a text of at most ", kMaxReplacement,
                           " printable ASCII characters other than quotes and backslashes"));
  }

  absl::Status UnknownSetting(const YAML::Node& key, const char* keys) const {
    return Error(key, absl::StrCat("`", rule_, "` has no setting `", Text(key), "`; use ", keys));
  }

  absl::StatusOr<double> ReadNumber(const YAML::Node& node, const std::string& key,
                                    double largest) const {
    double value = 0;
    if (!node.IsScalar() || !YAML::convert<double>::decode(node, value) || !std::isfinite(value)) {
      return Error(node, absl::StrCat("`", rule_, "`: ", key, " must be a number"));
    }
    if (value < 0 || value > largest) {
      return Error(node, absl::StrCat("`", rule_, "`: ", key, " is ", NumberText(value),
                                      "; it must be between 0 and ", NumberText(largest)));
    }
    return value;
  }

  absl::StatusOr<uint64_t> ReadWhole(const YAML::Node& node, const std::string& key) const {
    TRAINYARD_ASSIGN_OR_RETURN(const double value, ReadNumber(node, key, kMaxLength));
    if (value == std::floor(value)) return static_cast<uint64_t>(value);
    return Error(node, absl::StrCat("`", rule_, "`: ", key, " must be a whole number"));
  }

  const std::string name_;
  std::set<std::string> keys_;
  std::string rule_;  // name of the current rule
  FilterProgram program_;
};

}  // namespace

absl::Status AddNamedRules(const std::string& name, FilterProgram& program) {
  if (name.starts_with("language=")) {
    TRAINYARD_ASSIGN_OR_RETURN(const LanguageRule rule, ParseLanguage(name));
    program.Add(rule);
    return absl::OkStatus();
  }
  return AddPreset(name, program);
}

absl::StatusOr<FilterProgram> ParseRuleFile(std::string_view yaml,
                                            const std::string& display_name) {
  if (!IsUtf8(yaml)) return absl::InvalidArgumentError(absl::StrCat(display_name, ": not UTF-8"));
  // Catches the exceptions by which yaml-cpp reports errors.
  try {
    return RuleFileReader(display_name).Read(YAML::Load(std::string(yaml)));
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(
        absl::StrCat(display_name, ":", error.mark.line + 1, ": not valid YAML: ", error.msg));
  }
}

absl::StatusOr<FilterProgram> ReadRuleFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxFileBytes + 1, '\0');
  if (!file || file.read(text.data(), static_cast<std::streamsize>(text.size())).bad()) {
    return absl::NotFoundError(
        absl::StrCat("cannot read the rule file ", path, "; check the path"));
  }
  text.resize(file.gcount());
  if (text.size() > kMaxFileBytes) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": a rule file has at most 1 MiB"));
  }
  return ParseRuleFile(text, path);
}

}  // namespace trainyard::data
