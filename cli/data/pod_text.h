// Perl's Plain Old Documentation to prose (perlpod, perlpodspec).
#ifndef TRAINYARD_CLI_DATA_POD_TEXT_H_
#define TRAINYARD_CLI_DATA_POD_TEXT_H_

#include <string>
#include <string_view>

namespace trainyard::cli {

// Paragraphs of prose, each on one line, an empty line between two. Headings and the text of list
// items stay; commands, formatting codes, verbatim (indented) paragraphs and whatever is meant for
// other formatters go. `source` is UTF-8.
std::string PodToText(std::string_view source);

// What =encoding names, in lower case; empty when nothing does.
std::string PodEncoding(std::string_view source);

// True for an encoding that perlpodspec reads as Latin-1: one that says so, or none.
bool IsLatin1(const std::string& encoding);
std::string Latin1ToUtf8(std::string_view text);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DATA_POD_TEXT_H_
