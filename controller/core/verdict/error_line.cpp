#include "controller/core/verdict/error_line.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "proto/text/utf8.h"
#include "re2/re2.h"

namespace trainyard::controller {
namespace {

// Longer lines are skipped, because they are probably data and are slow to search.
constexpr std::size_t kMaxSearchedBytes = 4096;

// Returns the line with every number and address replaced by "#".
std::string Form(std::string line) {
  static const RE2 kNumbers(R"(0x[0-9a-fA-F]+|\d+)");
  RE2::GlobalReplace(&line, kNumbers, "#");
  return line;
}

}  // namespace

bool NamesAnError(std::string_view line) {
  // PyTorch prints "[rank3]: " before each line of a traceback.
  static const RE2 kForms(
      R"(^(?:\[[^\]]*\]:? ?)?(?:)"
      R"((?:[A-Za-z_][\w.]*\.)?[A-Za-z_]\w*(?:Error|Exception|Interrupt|Exit|Warning)(?::|$)|)"
      R"(terminate called |\s*what\(\): |.*: Assertion .* failed|)"
      R"((?:FATAL|ERROR)\b|(?i:[\w./:-]*:? ?(?:fatal|fatal error|error):)))");
  static const RE2 kWarning(R"(^(?:\[[^\]]*\]:? ?)?[\w.]*Warning\b)");
  if (line.size() > kMaxSearchedBytes) return false;
  const re2::StringPiece text(line.data(), line.size());
  return RE2::PartialMatch(text, kForms) && !RE2::PartialMatch(text, kWarning);
}

std::string ErrorLine(const std::string& log_tail) {
  absl::string_view found;
  for (const absl::string_view line : absl::StrSplit(log_tail, absl::ByAnyChar("\r\n"))) {
    if (NamesAnError({line.data(), line.size()})) found = line;
  }
  const absl::string_view trimmed = absl::StripAsciiWhitespace(found);
  return std::string(Utf8Prefix(std::string(trimmed), kMaxErrorLineBytes));
}

bool SameError(const std::string& a, const std::string& b) { return Form(a) == Form(b); }

}  // namespace trainyard::controller
