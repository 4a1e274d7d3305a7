// Replaces e-mail addresses and public IP addresses in texts.
#ifndef TRAINYARD_DATA_FILTER_PERSONAL_DATA_H_
#define TRAINYARD_DATA_FILTER_PERSONAL_DATA_H_

#include <optional>
#include <string>
#include <string_view>

namespace trainyard::data {

// The replacements. Addresses of a kind without a replacement stay in the text. The defaults are
// reserved for examples (RFC 2606, 5737 and 3849), so that they belong to nobody.
struct PersonalDataEdit {
  std::optional<std::string> email = "email@example.com";
  std::optional<std::string> ipv4 = "192.0.2.1";
  std::optional<std::string> ipv6 = "2001:db8::1";
};

// Sets `result` to the text with the replacements. Returns false, and leaves `result` unspecified,
// if there is nothing to replace. Takes time proportional to the length of the text.
//
// E-mail addresses: letters, digits and !#$%&'*+/=?^_`{|}~- with single dots between them, "@", and
// a domain with at least one dot whose last label begins with a letter. IPv4 addresses: four
// decimal numbers of at most 255, without leading zeros, between characters other than letters,
// digits and dots. IPv6 addresses: all textual forms without an embedded IPv4 address. Private,
// local, multicast and reserved IP addresses are no personal data and stay.
bool ReplacePersonalData(std::string_view text, const PersonalDataEdit& edit, std::string* result);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_FILTER_PERSONAL_DATA_H_
