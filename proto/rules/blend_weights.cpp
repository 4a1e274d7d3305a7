#include "proto/rules/blend_weights.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>

namespace trainyard {
namespace {

// Small enough that the sum of 64 such numbers fits into int64_t.
constexpr int64_t kWholeMax = 1'000'000'000'000'000;

bool IsDecimalDigit(char c) { return c >= '0' && c <= '9'; }

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

// Returns the weight as a multiple of 10^exponent; nullopt if the multiple is above kWholeMax.
// Requires exponent <= weight.exponent, unless the weight is 0.
std::optional<int64_t> InUnitsOf(int exponent, const BlendWeight& weight) {
  int64_t whole = weight.digits;
  if (whole == 0) return 0;
  for (int i = exponent; i < weight.exponent; ++i) {
    if (whole > kWholeMax / 10) return std::nullopt;
    whole *= 10;
  }
  return whole;
}

}  // namespace

std::optional<BlendWeight> ReadWeight(const std::string& text) {
  BlendWeight weight;
  bool has_digit = false, behind_point = false;
  size_t place = 0;
  for (; place < text.size() && (IsDecimalDigit(text[place]) || text[place] == '.'); ++place) {
    if (text[place] == '.') {
      if (behind_point) return std::nullopt;
      behind_point = true;
      continue;
    }
    has_digit = true;
    weight.digits = weight.digits * 10 + (text[place] - '0');
    weight.exponent -= behind_point ? 1 : 0;
    if (weight.digits > kWholeMax) return std::nullopt;
  }
  const std::optional<int> exponent = ReadExponent(text.substr(place));
  if (!has_digit || !exponent.has_value()) return std::nullopt;
  if (weight.digits == 0) return BlendWeight{};
  weight.exponent += *exponent;
  for (; weight.digits % 10 == 0; ++weight.exponent) weight.digits /= 10;
  return weight;
}

std::vector<int64_t> SharesOf(const std::vector<BlendWeight>& weights) {
  int least = std::numeric_limits<int>::max();
  for (const BlendWeight& weight : weights) {
    if (weight.digits > 0) least = std::min(least, weight.exponent);
  }
  std::vector<int64_t> shares;
  int64_t divisor = 0, sum = 0;
  for (const BlendWeight& weight : weights) {
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

}  // namespace trainyard
