#include "controller/core/verdict/error_line.h"

#include <csignal>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "controller/core/verdict/error_kind.h"
#include "proto/text/utf8.h"
#include "re2/re2.h"

namespace trainyard::controller {
namespace {

// Precedes every error of our trainer, and adds nothing to a verdict.
constexpr char kTrainerPrefix[] = "trainyard-trainer: ";

struct FoundLine {
  std::string_view text;
  ErrorKind kind = ErrorKind::kNone;
};

std::vector<FoundLine> FindLines(const std::string& log_tail) {
  std::vector<FoundLine> found;
  for (const absl::string_view line : absl::StrSplit(log_tail, absl::ByAnyChar("\r\n"))) {
    const std::string_view text(line.data(), line.size());
    const ErrorKind kind = KindOfLine(text);
    if (kind != ErrorKind::kNone) found.push_back({text, kind});
  }
  return found;
}

// Returns the label of the rank that printed the line, such as "[rank1]:" or "31:". Empty if the
// line has none.
std::string RankLabel(std::string_view line) {
  static const RE2 kLabel(R"(^(\[[A-Za-z]*\d+\]:|\d{1,6}:\s))");
  re2::StringPiece label;
  RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), kLabel, &label);
  return std::string(label);
}

// Returns the last line of this kind. A launcher mixes the output of its ranks. Therefore, if lines
// have rank labels, only lines of the rank with the first labeled line are considered.
std::string_view LineOfCause(const std::vector<FoundLine>& lines, ErrorKind kind) {
  std::string first_label;
  std::string_view last;
  std::string_view last_of_first;
  for (const FoundLine& line : lines) {
    if (line.kind != kind) continue;
    last = line.text;
    const std::string label = RankLabel(line.text);
    if (first_label.empty()) first_label = label;
    if (!label.empty() && label == first_label) last_of_first = line.text;
  }
  return RankLabel(last).empty() ? last : last_of_first;
}

// Returns the line with every number and address replaced by "#".
std::string Form(std::string line) {
  static const RE2 kNumbers(R"(0x[0-9a-fA-F]+|\d+)");
  RE2::GlobalReplace(&line, kNumbers, "#");
  return line;
}

}  // namespace

std::string ErrorLine(const std::string& log_tail) {
  const std::vector<FoundLine> lines = FindLines(log_tail);
  for (const ErrorKind kind : {ErrorKind::kOwn, ErrorKind::kPeerLoss, ErrorKind::kFrame}) {
    const std::string_view line = LineOfCause(lines, kind);
    if (line.empty()) continue;
    absl::string_view trimmed =
        absl::StripAsciiWhitespace(absl::string_view(line.data(), line.size()));
    absl::ConsumePrefix(&trimmed, kTrainerPrefix);
    return std::string(Utf8Prefix(std::string(trimmed), kMaxErrorLineBytes));
  }
  return "";
}

bool ReportsOnlyPeerLoss(const std::string& log_tail) {
  bool lost_peer = false;
  for (const FoundLine& line : FindLines(log_tail)) {
    if (line.kind == ErrorKind::kOwn) return false;
    lost_peer = lost_peer || line.kind == ErrorKind::kPeerLoss;
  }
  return lost_peer && SignalBelow(log_tail) == 0;
}

int SignalBelow(const std::string& log_tail) {
  static const RE2 kForms(
      R"((?:exitcode\s*:\s*-|exits with return code = -|return code: -|)"
      R"(returned non-zero exit status -|died with <Signals\.SIG\w+: |traceback : Signal |)"
      R"(exited on signal ))"
      R"((\d{1,2})\b)");
  re2::StringPiece rest(log_tail);
  int signal = 0;
  while (RE2::FindAndConsume(&rest, kForms, &signal)) {
    if (signal != SIGTERM && signal != SIGABRT && signal != 0) return signal;
  }
  return 0;
}

bool SameError(const std::string& a, const std::string& b) { return Form(a) == Form(b); }

}  // namespace trainyard::controller
