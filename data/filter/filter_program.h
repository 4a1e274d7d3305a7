// The rules and edits of a filter, in the order in which they are applied.
#ifndef TRAINYARD_DATA_FILTER_FILTER_PROGRAM_H_
#define TRAINYARD_DATA_FILTER_FILTER_PROGRAM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "data/filter/c4_lines.h"
#include "data/filter/line_measures.h"
#include "data/filter/personal_data.h"
#include "data/filter/signal.h"

namespace trainyard::data {

// A document is dropped if its signal is below `min` or above `max`.
struct Rule {
  Signal signal;
  std::optional<double> min;
  std::optional<double> max;
};

// A document is dropped if less than `min` of it is in the language.
struct LanguageRule {
  std::string code;
  int number;  // LanguageNumber of the code
  double min;
};

struct NfcEdit {};

using FilterStep = std::variant<Rule, LanguageRule, C4LineRules, NfcEdit, PersonalDataEdit>;

// Names in rule files of steps that have no signal.
constexpr char kLanguageName[] = "language";
constexpr char kC4LinesName[] = "c4_lines";
constexpr char kNfcName[] = "nfc";
constexpr char kPersonalDataName[] = "personal_data";

class FilterProgram {
 public:
  // Adds a step at the end. If a rule for the same signal exists after the last edit, tightens its
  // thresholds instead.
  void Add(const FilterStep& step);

  // Replaces the last step with the same name. Adds the step if there is none.
  void Replace(const FilterStep& step);

  void SetShortLength(uint64_t characters) { line_lengths_.short_length = characters; }
  void SetLongLength(uint64_t characters) { line_lengths_.long_length = characters; }

  const std::vector<FilterStep>& steps() const { return steps_; }
  const std::vector<std::string>& rule_names() const { return rule_names_; }
  const LineLengths& line_lengths() const { return line_lengths_; }

  std::string ToYaml() const;

 private:
  void UpdateRuleNames();

  std::vector<FilterStep> steps_;
  std::vector<std::string> rule_names_;
  LineLengths line_lengths_;
};

std::string NameOf(const FilterStep& step);

// True if the step changes the text, false if it is a rule.
bool IsEdit(const FilterStep& step);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_FILTER_FILTER_PROGRAM_H_
