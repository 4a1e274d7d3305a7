#include "cli/convert/shell/shell_substitution.h"

#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/convert/shell/shell_arithmetic.h"

namespace trainyard::cli {
namespace {

using Words = std::vector<std::string>;
using Result = std::optional<std::string>;

std::string WithoutSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

Result Dirname(const Words& words) {
  if (words.size() != 2) return std::nullopt;
  const std::string path = WithoutSlashes(words[1]);
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : WithoutSlashes(path.substr(0, slash));
}

Result Basename(const Words& words) {
  if (words.size() < 2 || words.size() > 3 || absl::StartsWith(words[1], "-")) return std::nullopt;
  const std::string path = WithoutSlashes(words[1]);
  std::string name = path == "/" ? path : path.substr(path.rfind('/') + 1);
  if (words.size() == 3 && name != words[2] && absl::EndsWith(name, words[2])) {
    name.resize(name.size() - words[2].size());
  }
  return name;
}

Result Echo(const Words& words) {
  size_t first = 1;
  while (first < words.size() && (words[first] == "-n" || words[first] == "-e")) ++first;
  const Words rest(words.begin() + static_cast<std::ptrdiff_t>(first), words.end());
  const std::string text = absl::StrJoin(rest, " ");
  // With -e, backslashes have a meaning.
  return first > 1 && absl::StrContains(text, '\\') ? Result() : text;
}

// Supports `%s` and `%d` without a width.
Result Printf(const Words& words) {
  if (words.size() < 2 || absl::StrContains(words[1], '\\')) return std::nullopt;
  std::string text;
  size_t next = 2;
  for (size_t at = 0; at < words[1].size(); ++at) {
    if (words[1][at] != '%') {
      text += words[1][at];
      continue;
    }
    const char kind = at + 1 < words[1].size() ? words[1][++at] : '\0';
    if ((kind != 's' && kind != 'd') || next >= words.size()) return std::nullopt;
    text += words[next++];
  }
  return next == words.size() ? Result(text) : std::nullopt;
}

Result Seq(const Words& words) {
  std::vector<int64_t> numbers;
  for (size_t i = 1; i < words.size(); ++i) {
    int32_t number = 0;
    if (!absl::SimpleAtoi(words[i], &number)) return std::nullopt;
    numbers.push_back(number);
  }
  if (numbers.empty() || numbers.size() > 3) return std::nullopt;
  const int64_t first = numbers.size() == 1 ? 1 : numbers.front();
  const int64_t step = numbers.size() == 3 ? numbers[1] : 1;
  constexpr int64_t kMostItems = 1000;
  if (step == 0 || (numbers.back() - first) / step >= kMostItems) return std::nullopt;
  Words items;
  for (int64_t n = first; step > 0 ? n <= numbers.back() : n >= numbers.back(); n += step) {
    items.push_back(absl::StrCat(n));
  }
  return absl::StrJoin(items, "\n");
}

Result Expr(const Words& words) {
  const Words rest(words.begin() + 1, words.end());
  const ArithmeticVariables none = {[](const std::string&) { return Result(); },
                                    [](const std::string&, std::optional<int64_t>) {}};
  const std::optional<int64_t> value = EvaluateArithmetic(absl::StrJoin(rest, " "), none);
  return value.has_value() ? Result(absl::StrCat(*value)) : std::nullopt;
}

}  // namespace

std::optional<std::string> SubstitutionResult(const std::vector<std::string>& words) {
  if (words.empty()) return std::nullopt;
  if (words[0] == "dirname") return Dirname(words);
  if (words[0] == "basename") return Basename(words);
  if (words[0] == "echo") return Echo(words);
  if (words[0] == "printf") return Printf(words);
  if (words[0] == "seq") return Seq(words);
  if (words[0] == "expr") return Expr(words);
  return std::nullopt;
}

}  // namespace trainyard::cli
