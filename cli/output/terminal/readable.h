// Formats times, durations and numbers for people.
#ifndef TRAINYARD_CLI_OUTPUT_TERMINAL_READABLE_H_
#define TRAINYARD_CLI_OUTPUT_TERMINAL_READABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::cli {

// Shown in tables for an absent value.
inline constexpr char kNothing[] = "-";

// Returns kNothing for an empty text.
std::string TextOrNothing(const std::string& text);

// Returns kNothing for 0, which means unknown.
std::string CountText(int64_t count);

// Returns text such as "2026-11-21T12:00:00.250Z"; "" for 0.
std::string IsoTime(Timestamp time_ms);

// Text such as "3m12s ago"; "-" if `time_ms` is 0. A future time gives "now": clocks differ.
std::string AgoText(Timestamp time_ms, Timestamp now_ms);

// Formats the time since `time_ms` like ShortDuration; "-" if `time_ms` is 0.
std::string AgeText(Timestamp time_ms, Timestamp now_ms);

// Converts a text such as "30s", "5m", "1h30m" or "250ms" to milliseconds. A number without a unit
// means seconds. Returns -1 for any other text.
int64_t ParseDurationText(const std::string& text);

// Returns three significant digits and a suffix for a power of 1000, such as "950", "5.12k",
// "68.6k" or "1.2M".
std::string CompactNumber(double value);

// Returns text such as "512 B", "1.5 KiB" or "2.0 GiB".
std::string BytesText(int64_t bytes);

// The number with up to `digits` significant digits and no trailing zeros.
std::string NumberText(double value, int digits = 6);

// A loss with four decimals.
std::string LossText(double loss);
// Returns the newest loss of a run. If the loss is older than the newest step, the text states the
// loss's step, as in "3.5000 (step 29)".
std::string LossText(const v1::Progress& progress);

// Returns the newest loss on each evaluation set, as in "val 2.3100" and "code 1.0800". With
// `in_words`, as in "validation loss 2.3100" and "code loss 1.0800". If there are more than four
// losses, the fifth text states how many remain.
std::vector<std::string> EvaluationTexts(const v1::Progress& progress, bool in_words = false);

// Returns untrusted text as one line. Line ends and tabs become spaces; other control characters
// become visible escapes (proto/text/printable.h).
std::string OneLine(std::string_view text);

// One labeled line, such as " State running\n".
std::string LabelLine(const std::string& label, const std::string& value);

// Returns the number of code points of UTF-8 text, which is its display width unless the text has
// wide characters.
int DisplayWidth(std::string_view text);

// Cuts the text to at most `width` columns and marks the cut by "…".
std::string CutToWidth(const std::string& text, int width);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_TERMINAL_READABLE_H_
