#include "proto/rules/data_sources.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>
#include <optional>
#include <set>

namespace trainyard {
namespace {

constexpr char kBlanks[] = " \t";
constexpr size_t kNameCharactersMax = 32;
// Small enough that the sum of 64 such numbers fits into int64_t.
constexpr int64_t kWholeMax = 1'000'000'000'000'000;

// The number digits * 10^exponent. `digits` is positive and not a multiple of 10.
struct Decimal {
  int64_t digits = 0;
  int exponent = 0;
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Reads an exponent such as "e-3"; 0 for an empty text.
std::optional<int> ReadExponent(const std::string& text) {
  if (text.empty()) return 0;
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  const char* first = text.data() + (text[1] == '+' ? 2 : 1);
  const char* last = text.data() + text.size();
  int exponent = 0;
  const auto [stop, error] = std::from_chars(first, last, exponent);
  const bool is_whole = error == std::errc() && stop == last && first != last;
  const bool is_legal = is_whole && exponent > -1000 && exponent < 1000;
  return is_legal ? std::optional(exponent) : std::nullopt;
}

// Returns nullopt unless the text is a decimal number above 0 with at most 15 digits.
std::optional<Decimal> ReadDecimal(const std::string& text) {
  Decimal number;
  bool has_digit = false, behind_point = false;
  size_t place = 0;
  for (; place < text.size() && (IsDigit(text[place]) || text[place] == '.'); ++place) {
    if (text[place] == '.') {
      if (behind_point) return std::nullopt;
      behind_point = true;
      continue;
    }
    has_digit = true;
    number.digits = number.digits * 10 + (text[place] - '0');
    number.exponent -= behind_point ? 1 : 0;
    if (number.digits > kWholeMax) return std::nullopt;
  }
  const std::optional<int> exponent = ReadExponent(text.substr(place));
  if (!has_digit || number.digits == 0 || !exponent.has_value()) return std::nullopt;
  number.exponent += *exponent;
  for (; number.digits % 10 == 0; ++number.exponent) number.digits /= 10;
  return number;
}

// Returns the number as a multiple of 10^exponent; nullopt if the multiple is above kWholeMax.
// Requires exponent <= number.exponent.
std::optional<int64_t> InUnitsOf(int exponent, const Decimal& number) {
  int64_t whole = number.digits;
  for (int i = exponent; i < number.exponent; ++i) {
    if (whole > kWholeMax / 10) return std::nullopt;
    whole *= 10;
  }
  return whole;
}

// Returns the smallest integers in the ratio of the weights; empty if their sum is above
// kBlendPeriodMax.
std::vector<int64_t> SharesOf(const std::vector<Decimal>& weights) {
  int least = weights.front().exponent;
  for (const Decimal& weight : weights) least = std::min(least, weight.exponent);
  std::vector<int64_t> shares;
  int64_t divisor = 0, sum = 0;
  for (const Decimal& weight : weights) {
    const std::optional<int64_t> share = InUnitsOf(least, weight);
    if (!share.has_value()) return {};
    shares.push_back(*share);
    divisor = std::gcd(divisor, *share);
    sum += *share;
  }
  if (sum / divisor > kBlendPeriodMax) return {};
  for (int64_t& share : shares) share /= divisor;
  return shares;
}

// Returns the last part of the path in lower case, with "_" for every character that is not a
// letter or digit.
std::string NameOf(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  std::string name = path.substr(path.rfind('/') + 1).substr(0, kNameCharactersMax);
  for (char& c : name) {
    const auto byte = static_cast<unsigned char>(c);
    c = byte < 128 && std::isalnum(byte) ? static_cast<char>(std::tolower(byte)) : '_';
  }
  return name.empty() ? "data" : name;
}

// Returns the name of the source at `path`. Appends a number if another source already has that
// name.
std::string UniqueName(const std::string& path, std::set<std::string>& taken) {
  const std::string name = NameOf(path);
  std::string unique = name;
  for (int number = 2; !taken.insert(unique).second; ++number) {
    unique = name + "_" + std::to_string(number);
  }
  return unique;
}

bool IsSetName(const std::string& name) {
  const auto is_legal = [](char c) { return (c >= 'a' && c <= 'z') || IsDigit(c) || c == '_'; };
  return !name.empty() && name.size() <= kNameCharactersMax && !IsDigit(name[0]) &&
         std::all_of(name.begin(), name.end(), is_legal);
}

}  // namespace

std::pair<std::string, std::string> SplitEntry(const std::string& entry) {
  const size_t end = std::min(entry.find_first_of(kBlanks), entry.size());
  const size_t rest = std::min(entry.find_first_not_of(kBlanks, end), entry.size());
  return {entry.substr(0, end), entry.substr(rest)};
}

DataBlend BlendOf(const DataConfig& data) {
  if (data.blend.empty()) return {{{NameOf(data.path), data.path, 1}}, ""};
  DataBlend blend;
  std::vector<Decimal> weights;
  std::set<std::string> taken;
  for (const std::string& entry : data.blend) {
    const auto [weight, path] = SplitEntry(entry);
    const std::optional<Decimal> number = ReadDecimal(weight);
    if (!number.has_value() || path.empty()) {
      return {
          {},
          "`data.blend` contains \"" + entry +
              "\"; write each entry as WEIGHT PATH, such as \"0.7 /data/c4\". The weight must be "
              "above 0"};
    }
    weights.push_back(*number);
    blend.sources.push_back({UniqueName(path, taken), path, 1});
  }
  const std::vector<int64_t> shares = SharesOf(weights);
  if (shares.empty()) {
    return {
        {},
        "`data.blend` has weights whose mixture repeats only after more than " +
            std::to_string(kBlendPeriodMax) +
            " samples; round the weights, for example to 6 decimal places, so that their sum is 1"};
  }
  for (size_t i = 0; i < shares.size(); ++i) blend.sources[i].share = shares[i];
  return blend;
}

EvaluationSets EvaluationSetsOf(const EvaluationConfig& evaluation) {
  EvaluationSets read;
  std::set<std::string> taken;
  for (const std::string& entry : evaluation.sets) {
    const auto [name, path] = SplitEntry(entry);
    if (!IsSetName(name) || path.empty()) {
      return {
          {},
          "`evaluation.sets` contains \"" + entry +
              "\"; write each entry as NAME PATH, such as \"code /data/code\". A name has at most "
              "32 of the characters a-z, 0-9 and _, and does not begin with a digit"};
    }
    if (!taken.insert(name).second) {
      return {{}, "`evaluation.sets` names `" + name + "` twice; give each set its own name"};
    }
    read.sets.push_back({name, path});
  }
  return read;
}

}  // namespace trainyard
