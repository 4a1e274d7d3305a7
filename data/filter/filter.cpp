#include "data/filter/filter.h"

#include <utility>
#include <variant>

#include "absl/strings/str_split.h"
#include "data/filter/filter_program.h"
#include "data/filter/rule_file.h"
#include "data/filter/text_measures.h"
#include "data/unicode/nfc.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

bool Passes(const Rule& rule, double value) {
  return !(rule.min.has_value() && value < *rule.min) &&
         !(rule.max.has_value() && value > *rule.max);
}

// Sets `edited`, which may contain `text`, to the edited text. Returns false, without a change, if
// the text stays as it is.
bool Edit(const FilterStep& step, std::string_view text, std::string* edited) {
  std::string result;
  if (const C4LineRules* lines = std::get_if<C4LineRules>(&step)) {
    KeepC4Lines(text, *lines, &result);
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
      TRAINYARD_RETURN_IF_ERROR(AddPreset(name, program));
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
  TextMeasures& measures = *workspace.measures_;
  bool is_measured = false;  // `measures` has the current text
  size_t rules = 0;
  for (const FilterStep& step : program_->steps()) {
    const Rule* rule = std::get_if<Rule>(&step);
    if (rule == nullptr) {
      if (Edit(step, verdict.text, &workspace.edited_)) {
        verdict.text = workspace.edited_;
        is_measured = false;
      }
      continue;
    }
    if (!is_measured) measures.Start(verdict.text, program_->line_lengths());
    is_measured = true;
    verdict.value = measures.Value(rule->signal);
    if (!Passes(*rule, verdict.value)) {
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
