// Decides which lines a query selects.
#ifndef TRAINYARD_CONTROLLER_STORE_LOGS_LINE_MATCHER_H_
#define TRAINYARD_CONTROLLER_STORE_LOGS_LINE_MATCHER_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "controller/store/logs/log_store.h"
#include "re2/re2.h"

namespace trainyard::controller {

// The time of a match is linear in the length of the line, for any regular expression. Thread-safe.
class LineMatcher {
 public:
  // Selects every line.
  LineMatcher() = default;
  // Selects the lines of the query. Requires that the query is valid (CheckPattern).
  explicit LineMatcher(const LogQuery& query);

  // `bytes` contains several lines. Returns a position in `bytes` before which no selected line
  // ends. Returns npos if no line is selected.
  std::size_t FirstCandidate(std::string_view bytes) const;

  // Returns true if the line, without its line end, is selected.
  bool Matches(std::string_view line) const;

 private:
  bool ContainsText(std::string_view line) const;

  std::string text_;
  // Set if the query is a regular expression, or ignores case.
  std::unique_ptr<RE2> pattern_;
  // True if the pattern can be searched in several lines at once, because it contains no anchors
  // and no line ends.
  bool crosses_lines_ = true;
  v1::LogLevel min_level_ = v1::LOG_LEVEL_UNSPECIFIED;
};

// INVALID_ARGUMENT: `grep` is not a valid regular expression.
absl::Status CheckPattern(const LogQuery& query);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_LOGS_LINE_MATCHER_H_
