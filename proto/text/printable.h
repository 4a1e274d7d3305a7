// Makes untrusted text safe to print on terminals and to export to Prometheus.
#ifndef TRAINYARD_PROTO_TEXT_PRINTABLE_H_
#define TRAINYARD_PROTO_TEXT_PRINTABLE_H_

#include <string>
#include <string_view>

namespace trainyard {

// Returns a line of output in which control characters are replaced by visible escapes such as
// \u001b and \u202e. These are the control characters of ASCII, of ISO 6429 (U+0080 to U+009F) and
// of the writing direction. The line can neither control a terminal nor look like a different line.
// Tabs are kept. With `colors`, SGR sequences (colours) are kept too.
std::string PrintableLine(std::string_view text, bool colors);

// Returns the value of a Prometheus label. Escapes control characters like PrintableLine, and tabs
// too. Line feeds are kept, because the exposition format escapes them. Invalid UTF-8 becomes
// U+FFFD. Different valid values stay different, because Prometheus rejects a whole page that
// contains two equal label sets.
std::string PrintableLabel(std::string_view text);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_TEXT_PRINTABLE_H_
