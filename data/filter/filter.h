// Quality filters: rules that drop documents, and edits that remove lines or normalize text.
#ifndef TRAINYARD_DATA_FILTER_FILTER_H_
#define TRAINYARD_DATA_FILTER_FILTER_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace trainyard::data {

class FilterProgram;
class TextMeasures;

// Memory that Judge reuses. Each thread needs its own.
class FilterWorkspace {
 public:
  FilterWorkspace();
  ~FilterWorkspace();
  FilterWorkspace(FilterWorkspace&&) noexcept;
  FilterWorkspace& operator=(FilterWorkspace&&) noexcept;

 private:
  friend class Filter;
  std::unique_ptr<TextMeasures> measures_;
  std::string edited_;
};

struct Verdict {
  // The first rule that the document fails, as an index of Filter::rule_names(). Kept if empty.
  std::optional<size_t> dropped_by;
  double value = 0;  // the signal that the last rule compared
  // The text after all edits so far. Differs from the document only if the filter has edits. Points
  // into the document or the workspace, and is valid until the workspace is used again.
  std::string_view text;

  bool kept() const { return !dropped_by.has_value(); }
};

// An immutable list of rules and edits. Threads may share it. The result of Judge depends only on
// the rules and the text.
class Filter {
 public:
  // `rules` is the path of a rule file, which ends in .yaml or .yml, or a list joined by "," or
  // "+". Each element is the name of a preset (presets.h) or a language with the least fraction of
  // the text, such as "language=en:0.65".
  static absl::StatusOr<Filter> Load(const std::string& rules);

  // Reads the text of a rule file (README.md). Errors begin with "display_name:line: ".
  static absl::StatusOr<Filter> FromYaml(std::string_view yaml, const std::string& display_name);

  // The text must be valid UTF-8 and shorter than 4 GiB.
  Verdict Judge(std::string_view text, FilterWorkspace& workspace) const;

  // Appends the values of all signals of the text, in the order of SignalNames.
  static void MeasureAll(std::string_view text, FilterWorkspace& workspace,
                         std::vector<double>* values);
  static std::vector<std::string> SignalNames();

  // One name per rule in the order of the checks, such as "words".
  const std::vector<std::string>& rule_names() const;

  // A rule file with the same rules and edits, unless presets contain one of them twice. Equal
  // filters have equal texts.
  std::string ToYaml() const;

 private:
  explicit Filter(std::shared_ptr<const FilterProgram> program);

  std::shared_ptr<const FilterProgram> program_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_FILTER_FILTER_H_
