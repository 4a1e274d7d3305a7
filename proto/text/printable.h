// Untrusted text made safe for terminals and for Prometheus.
#ifndef TRAINYARD_PROTO_TEXT_PRINTABLE_H_
#define TRAINYARD_PROTO_TEXT_PRINTABLE_H_

#include <string>
#include <string_view>

namespace trainyard {

// A line of output with visible escapes, such as \u001b and \u202e, for control characters of
// ASCII, of ISO 6429 (U+0080 to U+009F) and of the writing direction. The line can neither control
// a terminal nor display as something else. Tabs stay, and with `colors` also SGR sequences
// (colours).
std::string PrintableLine(std::string_view text, bool colors);

// The value of a Prometheus label: like PrintableLine, but tabs are escaped and line feeds stay,
// because the exposition format escapes them itself. Invalid UTF-8 becomes U+FFFD. Different UTF-8
// values stay different, because Prometheus rejects a whole page with two equal label sets.
std::string PrintableLabel(std::string_view text);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_TEXT_PRINTABLE_H_
