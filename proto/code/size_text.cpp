#include "proto/code/size_text.h"

#include <cstddef>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace trainyard::code {

std::string DecimalSize(int64_t bytes) {
  if (bytes < 1000) return absl::StrCat(bytes, " B");
  const char* units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
  double amount = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  for (; amount >= 999.95 && unit + 1 < std::size(units); ++unit) amount /= 1000;
  return absl::StrFormat("%.1f %s", amount, units[unit]);
}

std::string GroupedNumber(int64_t number) {
  std::string text = absl::StrCat(number);
  const std::size_t first = text.front() == '-' ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) text.insert(at -= 3, ",");
  return text;
}

}  // namespace trainyard::code
