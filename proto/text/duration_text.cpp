#include "proto/text/duration_text.h"

#include <algorithm>
#include <cstdio>

namespace trainyard {
namespace {

constexpr int64_t kSecond = 1000, kMinute = 60 * kSecond, kHour = 60 * kMinute, kDay = 24 * kHour;

// Returns text such as "3m12s": `count` in the larger unit, then `rest` in the smaller unit.
std::string TwoUnits(int64_t count, char unit, int64_t rest, char rest_unit) {
  char text[48];
  const int size =
      std::snprintf(text, sizeof(text), "%lld%c%02lld%c", static_cast<long long>(count), unit,
                    static_cast<long long>(rest), rest_unit);
  return std::string(text, static_cast<std::size_t>(size));
}

}  // namespace

std::string DurationText(int64_t ms) {
  if (ms < kSecond) return std::to_string(ms) + " ms";
  if (ms < 10 * kSecond && ms % kSecond != 0) {
    char text[16];
    const int size = std::snprintf(text, sizeof(text), "%.1f s", static_cast<double>(ms) / 1000);
    return std::string(text, static_cast<std::size_t>(size));
  }
  if (ms < 2 * kMinute) return std::to_string(ms / kSecond) + " s";
  if (ms < 2 * kHour) return std::to_string(ms / kMinute) + " min";
  return std::to_string(ms / kHour) + " h";
}

std::string ShortDuration(int64_t ms) {
  const int64_t length = std::max<int64_t>(ms, 0);
  if (length < kMinute) return std::to_string(length / kSecond) + "s";
  if (length < kHour) return TwoUnits(length / kMinute, 'm', length / kSecond % 60, 's');
  if (length < kDay) return TwoUnits(length / kHour, 'h', length / kMinute % 60, 'm');
  return TwoUnits(length / kDay, 'd', length / kHour % 24, 'h');
}

}  // namespace trainyard
