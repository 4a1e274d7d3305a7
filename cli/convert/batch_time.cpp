#include "cli/convert/batch_time.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "cli/convert/source/source_tree.h"

namespace trainyard::cli {
namespace {

constexpr int64_t kYearSeconds = 365 * 86400;

// Returns "2d", "12h", "90m" or "45s": the largest unit that needs no fraction.
std::string DurationOf(int64_t seconds) {
  if (seconds % 86400 == 0) return absl::StrCat(seconds / 86400, "d");
  if (seconds % 3600 == 0) return absl::StrCat(seconds / 3600, "h");
  if (seconds % 60 == 0) return absl::StrCat(seconds / 60, "m");
  return absl::StrCat(seconds, "s");
}

// Returns the number of each part of "12:30:00", or nothing if a part is not a number.
std::vector<int64_t> Parts(absl::string_view text) {
  std::vector<int64_t> parts;
  for (const absl::string_view part : absl::StrSplit(text, ':')) {
    const std::optional<int64_t> number = WholeOf(std::string(part));
    if (!number.has_value() || *number < 0 || *number > kYearSeconds) return {};
    parts.push_back(*number);
  }
  return parts;
}

std::optional<int64_t> UpToAYear(int64_t seconds) {
  return seconds <= kYearSeconds ? std::optional<int64_t>(seconds) : std::nullopt;
}

}  // namespace

std::optional<int64_t> SlurmSeconds(const std::string& text) {
  const std::vector<std::string> halves = absl::StrSplit(text, absl::MaxSplits('-', 1));
  const std::vector<int64_t> parts = Parts(halves.back());
  if (parts.empty() || parts.size() > 3) return std::nullopt;
  if (halves.size() == 1) {
    if (parts.size() == 1) return UpToAYear(parts[0] * 60);
    if (parts.size() == 2) return UpToAYear(parts[0] * 60 + parts[1]);
    return UpToAYear(parts[0] * 3600 + parts[1] * 60 + parts[2]);
  }
  const std::vector<int64_t> days = Parts(halves.front());
  if (days.size() != 1) return std::nullopt;
  int64_t seconds = days[0] * 86400 + parts[0] * 3600;
  if (parts.size() > 1) seconds += parts[1] * 60;
  if (parts.size() > 2) seconds += parts[2];
  return UpToAYear(seconds);
}

bool BatchTime::Take(const std::string& option, const std::string& value, const std::string& text,
                     int line) {
  if (option == "time") {
    TakeTime(value, text, line);
  } else if (option == "signal") {
    TakeSignal(value, text, line);
  } else if (option == "requeue") {
    requeues_ = true;
  } else {
    return false;
  }
  return true;
}

void BatchTime::TakeTime(const std::string& value, const std::string& text, int line) {
  const std::string upper = absl::AsciiStrToUpper(value);
  if (upper == "UNLIMITED" || upper == "INFINITE" || upper == "0") return;
  const std::optional<int64_t> seconds = SlurmSeconds(value);
  if (seconds.has_value() && *seconds > 0) {
    limit_s_ = *seconds;
  } else {
    draft_.Note(line, absl::StrCat(text, ": not understood; set time_limit"));
  }
}

void BatchTime::TakeSignal(const std::string& value, const std::string& text, int line) {
  const std::vector<std::string> halves = absl::StrSplit(value, absl::MaxSplits('@', 1));
  std::string name = absl::AsciiStrToUpper(halves.front().substr(halves.front().rfind(':') + 1));
  name = std::string(absl::StripPrefix(name, "SIG"));
  const int64_t before_s = halves.size() > 1 ? WholeOf(halves[1]).value_or(0) : 0;
  if (name == "USR1" || name == "10") {
    signal_ = "USR1";
  } else if (name == "USR2" || name == "12") {
    signal_ = "USR2";
  } else if ((name == "TERM" || name == "15") && before_s > 0) {
    // The ranks get SIGTERM at the limit, so only the time to save must be kept.
    return draft_.Set("stop_grace", DurationOf(before_s));
  } else {
    return draft_.Note(line,
                       absl::StrCat(text,
                                    ": a warning can use only USR1 or USR2. At the time "
                                    "limit the ranks get SIGTERM and have stop_grace to save"));
  }
  warning_s_ = before_s;
  signal_text_ = text;
  signal_line_ = line;
}

void BatchTime::Finish() {
  if (limit_s_ > 0) draft_.Set("time_limit", DurationOf(limit_s_));
  if (signal_.empty()) return;
  if (limit_s_ == 0) {
    return draft_.Note(signal_line_, absl::StrCat(signal_text_,
                                                  ": the script has no --time; set time_limit and "
                                                  "time_limit_signal"));
  }
  draft_.Set("time_limit_signal", signal_);
  if (warning_s_ > 0) draft_.Set("time_limit_warning", DurationOf(warning_s_));
  // A script with a warning and --requeue usually queues itself again after it has saved. Without
  // a warning, SLURM ends the job at its limit.
  if (requeues_) draft_.Set("at_time_limit", "requeue");
}

}  // namespace trainyard::cli
