#include "data/prepare/command/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "proto/text/duration_text.h"

namespace trainyard::data {
namespace {

constexpr double kSecondsBetweenBars = 0.1;
constexpr double kSecondsBetweenLines = 10;
constexpr int kBarColumns = 24;

// `share`: from 0 to 1.
std::string Bar(double share) {
  const int full = static_cast<int>(share * kBarColumns);
  return "[" + std::string(full, '#') + std::string(kBarColumns - full, '.') + "]";
}

}  // namespace

void Progress::PrintLine(const std::string& line) {
  if (settings_.print) settings_.print(line + "\n");
}

void Progress::Start(const std::string& what, int64_t total) {
  what_ = what;
  total_ = total;
  done_ = 0;
  started_ = settings_.seconds();
  printed_ = started_;
  bar_shown_ = false;
}

// \r returns to the start of the line and \x1b[K erases the rest of it, so each bar replaces the
// previous one.
void Progress::Advance(int64_t bytes) {
  done_ += bytes;
  if (!settings_.print) return;
  const double now = settings_.seconds();
  if (now - printed_ < (settings_.is_terminal ? kSecondsBetweenBars : kSecondsBetweenLines)) return;
  printed_ = now;
  settings_.print(settings_.is_terminal ? "\r" + Line() + "\x1b[K" : Line() + "\n");
  bar_shown_ = settings_.is_terminal;
}

void Progress::Stop() {
  if (bar_shown_) settings_.print("\r\x1b[K");
  bar_shown_ = false;
}

std::string Progress::Line() const {
  const double share =
      total_ > 0 ? std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_)) : 1.0;
  const double seconds = printed_ - started_;  // Advance has set `printed_` to the current time.
  const double rate = seconds > 0 ? static_cast<double>(done_) / seconds : 0;
  char percent[16];
  std::snprintf(percent, sizeof(percent), "%3.0f%%", share * 100);
  const std::string bar = settings_.is_terminal ? Bar(share) + " " : "";
  std::string line = what_ + " " + bar + percent + " of " + ReadableBytes(total_) + "  " +
                     ReadableBytes(static_cast<int64_t>(rate)) + "/s";
  if (rate > 0) {
    const double seconds_left = static_cast<double>(std::max<int64_t>(total_ - done_, 0)) / rate;
    line += "  " + ShortDuration(std::llround(seconds_left * 1000)) + " left";
  }
  return line;
}

std::string ReadableBytes(int64_t bytes) {
  const char* const units[] = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  // The limit is 999.95, not 1000, because one decimal is printed: 999.95 kB would appear as 1000.0
  // kB.
  while (value >= (unit == 0 ? 1000 : 999.95) && unit + 1 < std::size(units)) {
    value /= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

std::string ReadableCount(int64_t count) {
  std::string digits = std::to_string(count);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, ",");
  return digits;
}

}  // namespace trainyard::data
