#include "data/filter/personal_data.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace trainyard::data {
namespace {

constexpr size_t kLocalMax = 64;    // bytes before "@" (RFC 5321)
constexpr size_t kDomainMax = 255;  // bytes after "@"
constexpr size_t kIpv6Max = 39;     // bytes of the longest form

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsAlphanumeric(char c) { return IsDigit(c) || IsLetter(c); }
bool IsAtom(char c) {
  return IsAlphanumeric(c) || std::string_view("!#$%&'*+/=?^_`{|}~-").find(c) != std::string::npos;
}
bool IsIpv6Character(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':';
}

// A part of the text and its replacement.
struct Found {
  size_t begin = 0;
  size_t end = 0;  // 0: nothing was found
};

// Returns the end of the domain that begins at `begin`; 0 if there is none.
size_t DomainEnd(std::string_view text, size_t begin) {
  size_t end = 0;  // of the domain so far, if it has a dot
  size_t label = begin;
  const size_t limit = std::min(text.size(), begin + kDomainMax);
  for (size_t at = begin; at <= limit; ++at) {
    const char c = at < limit ? text[at] : '\0';
    if (IsAlphanumeric(c) || c == '-') continue;
    // A label has no hyphen at its ends. Hyphens behind the last label are punctuation.
    size_t stop = at;
    while (stop > label && text[stop - 1] == '-') --stop;
    if (stop == label || text[label] == '-') break;
    if (label > begin && IsLetter(text[label])) end = stop;
    if (c != '.' || stop != at) break;
    label = at + 1;
  }
  return end;
}

// `at`: position of "@". `from`: end of the previous replacement.
Found FindEmail(std::string_view text, size_t at, size_t from) {
  size_t begin = at;
  while (
      begin > from && at - begin <= kLocalMax &&
      (IsAtom(text[begin - 1]) || (text[begin - 1] == '.' && begin < at && text[begin] != '.'))) {
    --begin;
  }
  if (begin < at && text[begin] == '.') ++begin;
  if (begin == at || at - begin > kLocalMax) return {};
  return {begin, DomainEnd(text, at + 1)};
}

// Parses a number of at most 255 without leading zeros. Returns its end; 0 if there is none.
size_t ParseOctet(std::string_view text, size_t at, uint8_t* octet) {
  int value = 0;
  size_t end = at;
  while (end < text.size() && end < at + 3 && IsDigit(text[end])) {
    value = 10 * value + (text[end++] - '0');
  }
  const bool has_zeros = end > at + 1 && text[at] == '0';
  if (end == at || value > 255 || has_zeros) return 0;
  *octet = static_cast<uint8_t>(value);
  return end;
}

// The ranges of the IANA registry of special addresses, and multicast.
bool IsPublic(const std::array<uint8_t, 4>& a) {
  if (a[0] == 0 || a[0] == 10 || a[0] == 127 || a[0] >= 224) return false;
  if (a[0] == 100 && a[1] >= 64 && a[1] < 128) return false;
  if (a[0] == 169 && a[1] == 254) return false;
  if (a[0] == 172 && a[1] >= 16 && a[1] < 32) return false;
  if (a[0] == 192 && (a[1] == 168 || (a[1] == 0 && (a[2] == 0 || a[2] == 2)))) return false;
  if (a[0] == 198 && (a[1] == 18 || a[1] == 19 || (a[1] == 51 && a[2] == 100))) return false;
  return !(a[0] == 203 && a[1] == 0 && a[2] == 113);
}

// `at`: position of a digit.
Found FindIpv4(std::string_view text, size_t at) {
  if (at > 0 && (IsAlphanumeric(text[at - 1]) || text[at - 1] == '.')) return {};
  std::array<uint8_t, 4> octets{};
  size_t end = at;
  for (size_t i = 0; i < octets.size(); ++i) {
    if (i > 0 && (end >= text.size() || text[end++] != '.')) return {};
    end = ParseOctet(text, end, &octets[i]);
    if (end == 0) return {};
  }
  if (end < text.size() && IsAlphanumeric(text[end])) return {};
  const bool continues = end + 1 < text.size() && text[end] == '.' && IsDigit(text[end + 1]);
  if (continues || !IsPublic(octets)) return {};
  return {at, end};
}

// `at`: position of the first of a run of hexadecimal digits and colons.
Found FindIpv6(std::string_view text, size_t at) {
  if (at > 0 && (IsAlphanumeric(text[at - 1]) || text[at - 1] == ':' || text[at - 1] == '.')) {
    return {};
  }
  size_t end = at;
  while (end < text.size() && end <= at + kIpv6Max && IsIpv6Character(text[end])) ++end;
  // A colon after an address is punctuation.
  if (end > at + 1 && text[end - 1] == ':' && text[end - 2] != ':') --end;
  if (end > at + kIpv6Max || (end < text.size() && IsAlphanumeric(text[end]))) return {};
  const std::string address(text.substr(at, end - at));
  std::array<uint8_t, 16> bytes{};
  if (inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return {};
  // Global unicast addresses are those of 2000::/3. 2001:db8::/32 and 3fff::/20 are examples.
  const bool is_global = bytes[0] >> 5 == 1;
  const bool is_example =
      (bytes[0] == 0x20 && bytes[1] == 0x01 && bytes[2] == 0x0D && bytes[3] == 0xB8) ||
      (bytes[0] == 0x3F && bytes[1] == 0xFF && bytes[2] < 0x10);
  if (!is_global || is_example) return {};
  return {at, end};
}

// True for the position of the first colon of a run that may be an IPv6 address. Its first group
// has at most 4 digits.
size_t Ipv6Begin(std::string_view text, size_t colon, size_t from) {
  size_t begin = colon;
  while (begin > from && colon - begin < 5 && IsIpv6Character(text[begin - 1]) &&
         text[begin - 1] != ':') {
    --begin;
  }
  return begin;
}

class Replacer {
 public:
  Replacer(std::string_view text, const PersonalDataEdit& edit, std::string* result)
      : text_(text), edit_(edit), result_(*result) {}

  bool Run() {
    result_.clear();
    for (size_t at = 0; at < text_.size(); ++at) {
      const char c = text_[at];
      if (c == '@' && edit_.email) {
        Replace(FindEmail(text_, at, copied_), *edit_.email, &at);
      } else if (c == ':' && edit_.ipv6) {
        Replace(FindIpv6(text_, Ipv6Begin(text_, at, copied_)), *edit_.ipv6, &at);
      } else if (edit_.ipv4 && IsDigit(c)) {
        Replace(FindIpv4(text_, at), *edit_.ipv4, &at);
      }
    }
    if (copied_ == 0) return false;
    result_ += text_.substr(copied_);
    return true;
  }

 private:
  // Sets `at` to the last byte of the replaced part.
  void Replace(const Found& found, const std::string& replacement, size_t* at) {
    if (found.end == 0) return;
    result_.append(text_, copied_, found.begin - copied_);
    result_ += replacement;
    copied_ = found.end;
    *at = found.end - 1;
  }

  const std::string_view text_;
  const PersonalDataEdit& edit_;
  std::string& result_;
  size_t copied_ = 0;  // bytes of the text before this are in the result
};

}  // namespace

bool ReplacePersonalData(std::string_view text, const PersonalDataEdit& edit, std::string* result) {
  return Replacer(text, edit, result).Run();
}

}  // namespace trainyard::data
