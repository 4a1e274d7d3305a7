// Makes untrusted text safe to print on terminals and to export to Prometheus.
#ifndef TRAINYARD_PROTO_TEXT_PRINTABLE_H_
#define TRAINYARD_PROTO_TEXT_PRINTABLE_H_

#include <string>
#include <string_view>

namespace trainyard {

// Returns `text` with its control characters replaced by visible escapes such as \u001b and \u202e.
// The line can then neither control a terminal nor look like a different line. Control characters
// are those of ASCII, of ISO 6429 (U+0080 to U+009F) and of the writing direction. Tabs are kept.
// If `colors` is true, SGR sequences (colors) are kept too.
std::string PrintableLine(std::string_view text, bool colors);

// Returns the text as a value of a Prometheus label. Escapes control characters like PrintableLine,
// and tabs too. Line feeds are kept, because the exposition format escapes them. Invalid UTF-8
// becomes U+FFFD. Valid values that differ also differ after escaping. Prometheus would reject a
// whole page with two equal label sets.
std::string PrintableLabel(std::string_view text);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_TEXT_PRINTABLE_H_
