// Untrusted text made safe for terminals and for Prometheus.
#ifndef TRAINYARD_PROTO_TEXT_PRINTABLE_H_
#define TRAINYARD_PROTO_TEXT_PRINTABLE_H_

#include <string>
#include <string_view>

namespace trainyard {

// A line of output in which control characters of ASCII, of ISO 6429 (U+0080 to U+009F) and of the
// writing direction are visible escapes, such as \u001b and \u202e: the line can neither control a
// terminal nor display as something else. Tabs stay, and so do SGR sequences (colours) with
// `colors`.
std::string PrintableLine(std::string_view text, bool colors);

// The value of a Prometheus label: as PrintableLine, but with tabs escaped and line feeds kept,
// which the exposition format escapes itself. Invalid UTF-8 becomes U+FFFD. Values that differ as
// UTF-8 stay different, because two equal label sets make Prometheus refuse a whole page.
std::string PrintableLabel(std::string_view text);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_TEXT_PRINTABLE_H_
