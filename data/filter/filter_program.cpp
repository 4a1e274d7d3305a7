#include "data/filter/filter_program.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "absl/strings/str_cat.h"
#include "proto/text/number_text.h"

namespace trainyard::data {
namespace {

template <typename Choose>
std::optional<double> Tighter(const std::optional<double>& a, const std::optional<double>& b,
                              const Choose& choose) {
  if (!a.has_value() || !b.has_value()) return a.has_value() ? a : b;
  return choose(*a, *b);
}

void Tighten(const Rule& other, Rule& rule) {
  rule.min = Tighter(rule.min, other.min, [](double a, double b) { return std::max(a, b); });
  rule.max = Tighter(rule.max, other.max, [](double a, double b) { return std::min(a, b); });
}

std::string RuleText(const Rule& rule, const LineLengths& lengths) {
  std::string text;
  const auto add = [&text](const char* key, double value) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", key, ": ", NumberText(value));
  };
  if (rule.min.has_value()) add("min", *rule.min);
  if (rule.max.has_value()) add("max", *rule.max);
  if (rule.signal == Signal::kShortLines) add("length", static_cast<double>(lengths.short_length));
  if (rule.signal == Signal::kLongLines) add("length", static_cast<double>(lengths.long_length));
  return absl::StrCat(InfoOf(rule.signal).name, ": {", text, "}");
}

std::string PersonalDataText(const PersonalDataEdit& edit) {
  std::string text;
  const auto add = [&text](const char* key, const std::optional<std::string>& replacement) {
    if (!replacement) return;
    absl::StrAppend(&text, text.empty() ? "" : ", ", key, ": \"", *replacement, "\"");
  };
  add("email", edit.email);
  add("ipv4", edit.ipv4);
  add("ipv6", edit.ipv6);
  return absl::StrCat(kPersonalDataName, ": {", text, "}");
}

std::string StepText(const FilterStep& step, const LineLengths& lengths) {
  if (const Rule* rule = std::get_if<Rule>(&step)) return RuleText(*rule, lengths);
  if (const LanguageRule* language = std::get_if<LanguageRule>(&step)) {
    return absl::StrCat(kLanguageName, ": {code: ", language->code,
                        ", min: ", NumberText(language->min), "}");
  }
  if (const C4LineRules* lines = std::get_if<C4LineRules>(&step)) {
    return absl::StrCat(
        kC4LinesName, ": {end_punctuation: ", lines->end_punctuation ? "true" : "false",
        ", min_words: ", lines->min_words, ", max_word_length: ", lines->max_word_length, "}");
  }
  if (const PersonalDataEdit* edit = std::get_if<PersonalDataEdit>(&step)) {
    return PersonalDataText(*edit);
  }
  return kNfcName;
}

}  // namespace

std::string NameOf(const FilterStep& step) {
  if (const Rule* rule = std::get_if<Rule>(&step)) return InfoOf(rule->signal).name;
  if (std::holds_alternative<LanguageRule>(step)) return kLanguageName;
  if (std::holds_alternative<PersonalDataEdit>(step)) return kPersonalDataName;
  return std::holds_alternative<C4LineRules>(step) ? kC4LinesName : kNfcName;
}

bool IsEdit(const FilterStep& step) {
  return std::holds_alternative<C4LineRules>(step) || std::holds_alternative<NfcEdit>(step) ||
         std::holds_alternative<PersonalDataEdit>(step);
}

void FilterProgram::Add(const FilterStep& step) {
  if (const Rule* rule = std::get_if<Rule>(&step)) {
    for (auto old = steps_.rbegin(); old != steps_.rend(); ++old) {
      if (IsEdit(*old)) break;
      Rule* old_rule = std::get_if<Rule>(&*old);
      if (old_rule == nullptr || old_rule->signal != rule->signal) continue;
      Tighten(*rule, *old_rule);
      return;
    }
  }
  steps_.push_back(step);
  UpdateRuleNames();
}

void FilterProgram::Replace(const FilterStep& step) {
  const auto old = std::find_if(steps_.rbegin(), steps_.rend(), [&step](const FilterStep& other) {
    return NameOf(other) == NameOf(step);
  });
  if (old != steps_.rend()) {
    *old = step;
  } else {
    steps_.push_back(step);
  }
  UpdateRuleNames();
}

void FilterProgram::UpdateRuleNames() {
  rule_names_.clear();
  for (const FilterStep& step : steps_) {
    if (!IsEdit(step)) rule_names_.push_back(NameOf(step));
  }
}

std::string FilterProgram::ToYaml() const {
  std::string yaml = "rules:\n";
  for (const FilterStep& step : steps_) {
    absl::StrAppend(&yaml, "  - ", StepText(step, line_lengths_), "\n");
  }
  return yaml;
}

}  // namespace trainyard::data
