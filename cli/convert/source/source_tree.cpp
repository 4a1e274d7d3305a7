#include "cli/convert/source/source_tree.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace trainyard::cli {
namespace {

// Returns the full path that `${target}` refers to when it occurs in the value at `from`. A target
// `.name` is a sibling of that value.
std::string PathOf(std::string target, const std::string& from) {
  if (!absl::StartsWith(target, ".")) return target;
  std::string base = from;
  while (absl::StartsWith(target, ".")) {
    target.erase(0, 1);
    const size_t dot = base.rfind('.');
    base.resize(dot == std::string::npos ? 0 : dot);
  }
  return base.empty() ? target : absl::StrCat(base, ".", target);
}

// Reads a decimal number with a point or an exponent, in lower case. A double would round it.
std::optional<int64_t> WholeOfDecimal(const std::string& text) {
  const size_t mark = text.find('e');
  int exponent = 0;
  if (mark != std::string::npos && !absl::SimpleAtoi(text.substr(mark + 1), &exponent)) {
    return std::nullopt;
  }
  std::string digits = text.substr(0, mark);
  if (const size_t point = digits.find('.'); point != std::string::npos) {
    const auto places = static_cast<int>(std::min<size_t>(digits.size() - point - 1, 1 << 20));
    digits.erase(point, 1);
    exponent = std::max(exponent, -(1 << 20)) - places;
  }
  for (; exponent < 0 && absl::EndsWith(digits, "0"); ++exponent) digits.pop_back();
  const bool is_zero = digits.find_first_of("123456789") == std::string::npos;
  if (is_zero) return 0;
  constexpr int kMostDigits = 18;
  if (exponent < 0 || exponent > kMostDigits) return std::nullopt;
  digits.append(static_cast<size_t>(exponent), '0');
  int64_t value = 0;
  return absl::SimpleAtoi(digits, &value) ? std::optional(value) : std::nullopt;
}

}  // namespace

absl::Status SourceTree::Add(SourceValue value) {
  if (values_.size() >= kMaxSourceValues) {
    return absl::ResourceExhaustedError(
        absl::StrCat("contains more than ", kMaxSourceValues,
                     " values; check that this file is a configuration"));
  }
  last_[value.path] = values_.size();
  values_.push_back(std::move(value));
  return absl::OkStatus();
}

const SourceValue* SourceTree::Find(const std::string& path) const {
  const auto found = last_.find(path);
  if (found == last_.end()) return nullptr;
  MarkRead(path);
  last_read_ = path;
  return &values_[found->second];
}

std::string SourceTree::TakeLastRead() const { return std::exchange(last_read_, ""); }

std::vector<SourceValue> SourceTree::FindAll(const std::string& path) const {
  std::vector<SourceValue> all;
  MarkRead(path);
  for (const SourceValue& value : values_) {
    if (value.path == path) all.push_back(value);
  }
  if (!all.empty()) last_read_ = path;
  return all;
}

std::string SourceTree::Text(const std::string& path) const {
  const SourceValue* value = Find(path);
  return value == nullptr ? "" : value->text;
}

int SourceTree::Line(const std::string& path) const {
  const auto found = last_.find(path);
  return found == last_.end() ? 0 : values_[found->second].line;
}

int64_t SourceTree::Whole(const std::string& path, int64_t fallback) const {
  return WholeOf(Text(path)).value_or(fallback);
}

bool SourceTree::IsTrue(const std::string& path) const {
  const std::string word = absl::AsciiStrToLower(Text(path));
  return word == "true" || word == "yes" || word == "on" || word == "1";
}

bool SourceTree::Has(const std::string& path) const {
  return std::any_of(values_.begin(), values_.end(), [&](const SourceValue& value) {
    return value.path == path || absl::StartsWith(value.path, absl::StrCat(path, ".")) ||
           absl::StartsWith(value.path, absl::StrCat(path, "[]"));
  });
}

void SourceTree::ResolveReferences() {
  constexpr int kMaxSteps = 8;  // Limits references that refer to themselves.
  constexpr size_t kMaxText = 4096;
  for (SourceValue& value : values_) {
    for (int step = 0; step < kMaxSteps && value.text.size() <= kMaxText; ++step) {
      const size_t begin = value.text.rfind("${");
      const size_t end = begin == std::string::npos ? begin : value.text.find('}', begin);
      if (end == std::string::npos) break;
      const SourceValue* found =
          Find(PathOf(value.text.substr(begin + 2, end - begin - 2), value.path));
      if (found == nullptr || found == &value) break;
      value.text.replace(begin, end - begin + 1, found->text);
      value.kind = PlainKind(value.text);
    }
    if (absl::StrContains(value.text, "${") || value.text == "???") value.kind = SourceKind::kOpen;
  }
}

std::optional<double> NumberOf(const std::string& text) {
  std::string digits = text;
  std::erase(digits, '_');
  double value = 0;
  // None of the source formats has hexadecimal numbers.
  if (digits.find_first_of("xX") != std::string::npos) return std::nullopt;
  if (digits.empty() || absl::ascii_isspace(digits.front()) || !absl::SimpleAtod(digits, &value) ||
      !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<int64_t> WholeOf(const std::string& text) {
  if (!NumberOf(text).has_value()) return std::nullopt;
  std::string digits = text;
  std::erase(digits, '_');
  int64_t exact = 0;
  if (absl::SimpleAtoi(digits, &exact)) return exact;
  return WholeOfDecimal(absl::AsciiStrToLower(digits));
}

std::optional<int64_t> PositiveProduct(int64_t a, int64_t b) {
  int64_t product = 0;
  if (a <= 0 || b <= 0 || __builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

SourceKind PlainKind(const std::string& text) {
  static const std::set<std::string> nulls = {"", "~", "null", "Null", "NULL", "None"};
  static const std::set<std::string> switches = {"true", "false", "yes", "no", "on", "off"};
  if (nulls.contains(text)) return SourceKind::kNull;
  if (switches.contains(absl::AsciiStrToLower(text))) return SourceKind::kSwitch;
  return NumberOf(text).has_value() ? SourceKind::kNumber : SourceKind::kText;
}

}  // namespace trainyard::cli
