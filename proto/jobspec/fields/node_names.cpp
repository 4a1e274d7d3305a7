#include "proto/jobspec/fields/node_names.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"

namespace trainyard {
namespace {

constexpr std::size_t kMaxNameBytes = 255;

absl::Status Invalid(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      "`", std::string(Utf8Prefix(std::string(text), 80)), "` is not a name of nodes: ", why,
      "; write, for example, gpu07 or gpu[01-16,20]"));
}

absl::Status TooMany(absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("`", std::string(Utf8Prefix(std::string(text), 80)),
                   "` brings the list to more than ", kMaxNodeNames, " names; shorten the list"));
}

// Returns the parts between commas that are outside of brackets; nullopt if brackets do not match.
std::optional<std::vector<std::string>> SplitNames(const std::string& text) {
  std::vector<std::string> names(1);
  bool is_inside = false;
  for (const char c : text) {
    if (c == (is_inside ? '[' : ']')) return std::nullopt;
    if (c == '[' || c == ']') is_inside = c == '[';
    if (c == ',' && !is_inside) {
      names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  if (is_inside) return std::nullopt;
  return names;
}

// Adds `number` or `first-last` as texts of numbers to `numbers`. Returns false if the text is not
// valid. Stops at more than `most` numbers.
bool AddNumbers(absl::string_view text, std::size_t most, std::vector<std::string>& numbers) {
  const std::pair<absl::string_view, absl::string_view> ends =
      absl::StrSplit(text, absl::MaxSplits('-', 1));
  constexpr std::size_t kMaxDigits = 9;
  const absl::string_view last_text = ends.second.empty() ? ends.first : ends.second;
  int64_t first = 0, last = 0;
  for (const absl::string_view number : {ends.first, last_text}) {
    if (number.empty() || number.size() > kMaxDigits) return false;
    for (const char c : number) {
      if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return false;
    }
  }
  const bool is_range = text.find('-') != absl::string_view::npos;
  if (is_range && ends.second.empty()) return false;
  if (!absl::SimpleAtoi(ends.first, &first) || !absl::SimpleAtoi(last_text, &last)) return false;
  if (last < first) return false;
  const auto width = static_cast<int>(ends.first.size());
  for (; first <= last && numbers.size() <= most; ++first) {
    numbers.push_back(absl::StrFormat("%0*d", width, first));
  }
  return true;
}

// Appends each number to each of the names.
absl::Status AppendNumbers(const std::string& list, const std::string& name, std::size_t most,
                           std::vector<std::string>& names) {
  std::vector<std::string> numbers;
  for (const absl::string_view part : absl::StrSplit(list, ',')) {
    if (!AddNumbers(part, most, numbers)) {
      return Invalid(name, absl::StrCat("`", part, "` is not a number or an ascending range"));
    }
  }
  if (names.size() * numbers.size() > most) return TooMany(name);
  std::vector<std::string> longer;
  longer.reserve(names.size() * numbers.size());
  for (const std::string& begin : names) {
    for (const std::string& number : numbers) longer.push_back(begin + number);
  }
  names = std::move(longer);
  return absl::OkStatus();
}

absl::Status AddName(const std::string& name, std::size_t most, std::vector<std::string>& names) {
  if (name.empty()) return Invalid(name, "it is empty");
  if (name.size() > kMaxNameBytes) return Invalid(name, "it is too long");
  for (const char c : name) {
    if (!absl::ascii_isgraph(static_cast<unsigned char>(c))) {
      return Invalid(name, "it contains a space or a character that is not ASCII");
    }
  }
  std::vector<std::string> expanded = {""};
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t open = std::min(name.find('[', at), name.size());
    for (std::string& one : expanded) one += name.substr(at, open - at);
    if (open == name.size()) break;
    const std::size_t close = name.find(']', open);
    TRAINYARD_RETURN_IF_ERROR(
        AppendNumbers(name.substr(open + 1, close - open - 1), name, most, expanded));
    at = close + 1;
  }
  if (names.size() + expanded.size() > most) return TooMany(name);
  names.insert(names.end(), expanded.begin(), expanded.end());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ExpandNodeNames(const std::string& text,
                                                         std::size_t most) {
  const auto parts = SplitNames(text);
  if (!parts.has_value()) return Invalid(text, "its brackets do not match");
  std::vector<std::string> names;
  for (const std::string& part : *parts) {
    TRAINYARD_RETURN_IF_ERROR(AddName(part, most, names));
  }
  return names;
}

}  // namespace trainyard
