#include "data/filter/filter.h"

#include <utility>
#include <variant>

#include "absl/strings/str_split.h"
#include "data/filter/filter_program.h"
#include "data/filter/language.h"
#include "data/filter/rule_file.h"
#include "data/filter/text_measures.h"
#include "data/unicode/nfc.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// Measures the current text when the first rule needs it.
class Measurement {
 public:
  Measurement(TextMeasures& measures, const LineLengths& line_lengths)
      : measures_(measures), line_lengths_(line_lengths) {}

  // The text has changed.
  void Reset() { is_started_ = false; }

  // `step` must not be an edit. Sets `value` to the number that the rule compares.
  bool Passes(const FilterStep& step, std::string_view text, double* value) {
    if (const LanguageRule* language = std::get_if<LanguageRule>(&step)) {
      *value = LanguageFraction(text, language->number);
      return *value >= language->min;
    }
    if (!is_started_) measures_.Start(text, line_lengths_);
    is_started_ = true;
    const Rule& rule = std::get<Rule>(step);
    *value = measures_.Value(rule.signal);
    return !(rule.min.has_value() && *value < *rule.min) &&
           !(rule.max.has_value() && *value > *rule.max);
  }

 private:
  TextMeasures& measures_;
  const LineLengths& line_lengths_;
  bool is_started_ = false;
};

// Sets `edited`, which may contain `text`, to the edited text. Returns false, without a change, if
// the text stays as it is.
bool Edit(const FilterStep& step, std::string_view text, std::string* edited) {
  std::string result;
  if (const C4LineRules* lines = std::get_if<C4LineRules>(&step)) {
    KeepC4Lines(text, *lines, &result);
  } else if (const PersonalDataEdit* personal_data = std::get_if<PersonalDataEdit>(&step)) {
    if (!ReplacePersonalData(text, *personal_data, &result)) return false;
  } else if (IsNfc(text)) {
    return false;
  } else {
    result = ToNfc(text);
  }
  *edited = std::move(result);
  return true;
}

}  // namespace

FilterWorkspace::FilterWorkspace() : measures_(std::make_unique<TextMeasures>()) {}
FilterWorkspace::~FilterWorkspace() = default;
FilterWorkspace::FilterWorkspace(FilterWorkspace&&) noexcept = default;
FilterWorkspace& FilterWorkspace::operator=(FilterWorkspace&&) noexcept = default;

Filter::Filter(std::shared_ptr<const FilterProgram> program) : program_(std::move(program)) {}

absl::StatusOr<Filter> Filter::Load(const std::string& rules) {
  FilterProgram program;
  if (rules.ends_with(".yaml") || rules.ends_with(".yml")) {
    TRAINYARD_ASSIGN_OR_RETURN(program, ReadRuleFile(rules));
  } else {
    const std::vector<std::string> names = absl::StrSplit(rules, absl::ByAnyChar(",+"));
    for (const std::string& name : names) {
      TRAINYARD_RETURN_IF_ERROR(AddNamedRules(name, program));
    }
  }
  return Filter(std::make_shared<const FilterProgram>(std::move(program)));
}

absl::StatusOr<Filter> Filter::FromYaml(std::string_view yaml, const std::string& display_name) {
  TRAINYARD_ASSIGN_OR_RETURN(FilterProgram program, ParseRuleFile(yaml, display_name));
  return Filter(std::make_shared<const FilterProgram>(std::move(program)));
}

Verdict Filter::Judge(std::string_view text, FilterWorkspace& workspace) const {
  Verdict verdict;
  verdict.text = text;
  Measurement measurement(*workspace.measures_, program_->line_lengths());
  size_t rules = 0;
  for (const FilterStep& step : program_->steps()) {
    if (IsEdit(step)) {
      if (!Edit(step, verdict.text, &workspace.edited_)) continue;
      verdict.text = workspace.edited_;
      measurement.Reset();
      continue;
    }
    if (!measurement.Passes(step, verdict.text, &verdict.value)) {
      verdict.dropped_by = rules;
      return verdict;
    }
    ++rules;
  }
  return verdict;
}

void Filter::MeasureAll(std::string_view text, FilterWorkspace& workspace,
                        std::vector<double>* values) {
  TextMeasures& measures = *workspace.measures_;
  measures.Start(text, LineLengths());
  for (size_t i = 0; i < kSignalCount; ++i) {
    values->push_back(measures.Value(static_cast<Signal>(i)));
  }
}

const std::vector<std::string>& Filter::rule_names() const { return program_->rule_names(); }

std::string Filter::ToYaml() const { return program_->ToYaml(); }

std::vector<std::string> Filter::SignalNames() {
  std::vector<std::string> names;
  for (size_t i = 0; i < kSignalCount; ++i) {
    names.emplace_back(InfoOf(static_cast<Signal>(i)).name);
  }
  return names;
}

}  // namespace trainyard::data
