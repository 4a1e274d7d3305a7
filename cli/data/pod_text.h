// Perl's Plain Old Documentation to prose (perlpod, perlpodspec).
#ifndef TRAINYARD_CLI_DATA_POD_TEXT_H_
#define TRAINYARD_CLI_DATA_POD_TEXT_H_

#include <string>
#include <string_view>

namespace trainyard::cli {

// Paragraphs of prose, each on one line, an empty line between two. Headings and the text of list
// items stay; commands, formatting codes, verbatim (indented) paragraphs and text for other
// formatters are removed. `source` is UTF-8.
std::string PodToText(std::string_view source);

// The encoding that =encoding names, in lower case; empty when there is none.
std::string PodEncoding(std::string_view source);

// True for an encoding that perlpodspec reads as Latin-1: Latin-1 itself, or none.
bool IsLatin1(const std::string& encoding);
std::string Latin1ToUtf8(std::string_view text);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DATA_POD_TEXT_H_
