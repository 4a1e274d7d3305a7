#include "cli/output/terminal/readable.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "proto/contract/token_format.h"
#include "proto/jobspec/fields/scalar_text.h"
#include "proto/text/duration_text.h"
#include "proto/text/number_text.h"
#include "proto/text/printable.h"

namespace trainyard::cli {

std::string TextOrNothing(const std::string& text) { return text.empty() ? kNothing : text; }

std::string CountText(int64_t count) {
  return count == 0 ? kNothing : absl::StrFormat("%d", count);
}

std::string IsoTime(Timestamp time_ms) {
  if (time_ms == 0) return "";
  const int64_t seconds = time_ms >= 0 ? time_ms / 1000 : (time_ms - 999) / 1000;
  const std::time_t time = static_cast<std::time_t>(seconds);
  std::tm utc{};
  if (gmtime_r(&time, &utc) == nullptr) return "";
  return absl::StrFormat("%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", utc.tm_year + 1900, utc.tm_mon + 1,
                         utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                         time_ms - seconds * 1000);
}

std::string AgoText(Timestamp time_ms, Timestamp now_ms) {
  if (time_ms == 0) return kNothing;
  return now_ms - time_ms < 1000 ? "now" : ShortDuration(now_ms - time_ms) + " ago";
}

std::string AgeText(Timestamp time_ms, Timestamp now_ms) {
  return time_ms == 0 ? kNothing : ShortDuration(now_ms - time_ms);
}

int64_t ParseDurationText(const std::string& text) {
  const bool bare = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  const absl::StatusOr<int64_t> parsed = ParseDurationMs(bare ? text + "s" : text);
  return parsed.ok() && *parsed >= 0 ? *parsed : -1;
}

std::string CompactNumber(double value) {
  if (!std::isfinite(value)) return NotFiniteText(value);
  static constexpr std::array<const char*, 6> kSuffixes = {"", "k", "M", "B", "T", "P"};
  std::size_t power = 0;
  double scaled = value;
  while (std::fabs(scaled) >= 999.5 && power + 1 < kSuffixes.size()) {
    scaled /= 1000;
    ++power;
  }
  if (power == 0 && scaled == std::round(scaled)) return absl::StrFormat("%.0f", scaled);
  return NumberText(scaled, 3) + kSuffixes[power];
}

std::string BytesText(int64_t bytes) {
  static constexpr std::array<const char*, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double scaled = static_cast<double>(bytes);
  std::size_t power = 0;
  while (scaled >= 1024 && power + 1 < kUnits.size()) {
    scaled /= 1024;
    ++power;
  }
  return power == 0 ? absl::StrFormat("%d B", bytes)
                    : absl::StrFormat("%.1f %s", scaled, kUnits[power]);
}

std::string NumberText(double value, int digits) { return absl::StrFormat("%.*g", digits, value); }

std::string LossText(double loss) {
  return std::isfinite(loss) ? absl::StrFormat("%.4f", loss) : NotFiniteText(loss);
}

std::string LossText(const v1::Progress& progress) {
  const bool is_old = 0 < progress.loss_step() && progress.loss_step() < progress.step();
  return absl::StrCat(LossText(progress.loss()),
                      is_old ? absl::StrCat(" (step ", progress.loss_step(), ")") : "");
}

std::vector<std::string> EvaluationTexts(const v1::Progress& progress, bool in_words) {
  constexpr int kShown = 4;
  const auto text = [&](const std::string& set, double loss) {
    const std::string name = OneLine(set);
    const bool is_validation = set == token_format::kValidationSplit;
    const std::string words = absl::StrCat(is_validation ? "validation" : name, " loss");
    return absl::StrCat(in_words ? words : name, " ", LossText(loss));
  };
  std::vector<std::string> texts;
  for (const v1::EvaluatedLoss& evaluated : progress.evaluations()) {
    if (texts.size() < kShown) texts.push_back(text(evaluated.data_set(), evaluated.loss()));
  }
  const int more = progress.evaluations_size() - kShown;
  if (more > 0) texts.push_back(absl::StrCat("+", more, more == 1 ? " set" : " sets"));
  // Older controllers send only the loss on the set `val`.
  if (texts.empty() && progress.validation_loss() != 0) {
    texts.push_back(text(token_format::kValidationSplit, progress.validation_loss()));
  }
  return texts;
}

// Replace line ends and tabs by spaces: in a cell, line ends and tabs have no meaning, and escapes
// are hard to read.
std::string OneLine(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  return PrintableLine(line, false);
}

std::string LabelLine(const std::string& label, const std::string& value) {
  return absl::StrFormat("  %-11s %s\n", label, OneLine(value));
}

int DisplayWidth(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;  // Not a continuation byte.
  }));
}

std::string CutToWidth(const std::string& text, int width) {
  if (DisplayWidth(text) <= width) return text;
  if (width <= 0) return "";
  std::string cut;
  int columns = 0;
  for (const char c : text) {
    const bool starts = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (starts && ++columns == width) break;
    cut += c;
  }
  return cut + "…";
}

}  // namespace trainyard::cli
