// Times, durations and numbers in readable form.
#ifndef TRAINYARD_CLI_OUTPUT_READABLE_H_
#define TRAINYARD_CLI_OUTPUT_READABLE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "proto/support/clock.h"

namespace trainyard::cli {

// Text of an absent value in tables.
inline constexpr char kNothing[] = "-";

// `text`, or kNothing when it is empty.
std::string TextOrNothing(const std::string& text);

// The number, or kNothing for 0, which means unknown.
std::string CountText(int64_t count);

// "2026-11-21T12:00:00.250Z"; "" for 0.
std::string IsoTime(Timestamp time_ms);

// "3m12s ago", or "-" if `time_ms` is 0. A future time is "now", because clocks differ.
std::string AgoText(Timestamp time_ms, Timestamp now_ms);

// ShortDuration of the time since `time_ms`, or "-" if it is 0.
std::string AgeText(Timestamp time_ms, Timestamp now_ms);

// Converts "30s", "5m", "1h30m", "250ms" and bare seconds to milliseconds; -1 for any other text.
int64_t ParseDurationText(const std::string& text);

// Three digits and a power of 1000: "950", "5.12k", "68.6k", "1.2M".
std::string CompactNumber(double value);

// "512 B", "1.5 KiB", "2.0 GiB".
std::string BytesText(int64_t bytes);

// Up to `digits` significant digits, without trailing zeros.
std::string NumberText(double value, int digits = 6);

// Loss as shown in tables: four decimals.
std::string LossText(double loss);

// Untrusted text as one line: line ends and tabs become spaces, other control characters visible
// escapes (proto/text/printable.h).
std::string OneLine(std::string_view text);

// " State running\n": one labelled line of a text.
std::string LabelLine(const std::string& label, const std::string& value);

// Number of code points of UTF-8 text: its display width, except for wide characters.
int DisplayWidth(std::string_view text);

// At most `width` columns; "…" marks truncation.
std::string CutToWidth(const std::string& text, int width);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_READABLE_H_
