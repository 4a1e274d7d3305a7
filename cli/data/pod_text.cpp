#include "cli/data/pod_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>

namespace trainyard::cli {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

void AppendUtf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += static_cast<char>(0xC0 | (code >> 6));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    *out += static_cast<char>(0xE0 | (code >> 12));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    *out += static_cast<char>(0xF0 | (code >> 18));
    *out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

// E<lt>, E<233>, E<0xE9>, E<0351>; an unknown name gives nothing.
std::string Escape(std::string_view name) {
  if (name == "lt") return "<";
  if (name == "gt") return ">";
  if (name == "verbar") return "|";
  if (name == "sol") return "/";
  if (name == "quot") return "\"";
  if (name == "amp") return "&";
  int base = 10;
  if (name.size() > 1 && name[0] == '0') {
    const bool hexadecimal = name[1] == 'x' || name[1] == 'X';
    base = hexadecimal ? 16 : 8;
    name.remove_prefix(hexadecimal ? 2 : 1);
  }
  uint32_t code = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), code, base);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  std::string text;
  if (error == std::errc() && end == name.data() + name.size() && code <= 0x10FFFF && !surrogate) {
    AppendUtf8(code, &text);
  }
  return text;
}

// The position of the first `wanted` outside formatting codes.
size_t FindOutsideCodes(std::string_view text, char wanted) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>' && depth > 0) --depth;
    if (text[i] == wanted && depth == 0) return i;
  }
  return std::string_view::npos;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

std::string StripCodes(std::string_view text, int depth);

// L<text|name>, L<name/section>, L<name>, L<http://...>.
std::string Link(std::string_view inside, int depth) {
  const size_t bar = FindOutsideCodes(inside, '|');
  if (bar != std::string_view::npos) return StripCodes(inside.substr(0, bar), depth);
  const size_t slash = FindOutsideCodes(inside, '/');
  const bool is_url = inside.find("://") != std::string_view::npos;
  if (slash == std::string_view::npos || is_url) return StripCodes(inside, depth);
  std::string section = StripCodes(inside.substr(slash + 1), depth);
  if (section.size() >= 2 && section.front() == '"' && section.back() == '"') {
    section = section.substr(1, section.size() - 2);
  }
  const std::string page = StripCodes(inside.substr(0, slash), depth);
  return "\"" + section + "\"" + (page.empty() ? "" : " in " + page);
}

// The text that remains of a formatting code.
std::string Code(char letter, std::string_view inside, int depth) {
  if (letter == 'E') return Escape(Trim(inside));
  if (letter == 'X' || letter == 'Z') return "";
  if (letter == 'L') return Link(inside, depth);
  return StripCodes(inside, depth);
}

// A formatting code at the front of a text: its inside and its length. Length 0: there is none.
struct FoundCode {
  std::string_view inside;
  size_t length = 0;
};

// C<<< ... >>>: spaces are inside the brackets, and brackets between them do not count.
FoundCode FindWideCode(std::string_view text, size_t brackets) {
  const std::string closing = std::string(brackets, '>');
  for (size_t at = text.find(closing, 1 + brackets); at != std::string_view::npos;
       at = text.find(closing, at + 1)) {
    if (!IsSpace(text[at - 1])) continue;
    return {Trim(text.substr(1 + brackets, at - 1 - brackets)), at + brackets};
  }
  return {};
}

FoundCode FindCode(std::string_view text) {
  if (text.size() < 3 || text[0] < 'A' || text[0] > 'Z' || text[1] != '<') return {};
  size_t brackets = 1;
  while (1 + brackets < text.size() && text[1 + brackets] == '<') ++brackets;
  if (brackets > 1 && 1 + brackets < text.size() && IsSpace(text[1 + brackets])) {
    return FindWideCode(text, brackets);
  }
  int depth = 1;
  for (size_t i = 2; i < text.size(); ++i) {
    const bool opens = text[i] == '<' && text[i - 1] >= 'A' && text[i - 1] <= 'Z';
    if (opens) ++depth;
    if (text[i] == '>' && --depth == 0) return {text.substr(2, i - 2), i + 1};
  }
  return {};
}

// `depth` bounds the recursion for untrusted input; codes nested deeper stay as they are.
std::string StripCodes(std::string_view text, int depth) {
  if (depth <= 0) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const FoundCode code = FindCode(text);
    if (code.length == 0) {
      out += text.front();
      text.remove_prefix(1);
      continue;
    }
    out += Code(text.front(), code.inside, depth - 1);
    text.remove_prefix(code.length);
  }
  return out;
}

// Every run of white space becomes one space.
std::string OneLine(std::string_view text) {
  std::string line;
  for (const char c : Trim(text)) {
    if (!IsSpace(c)) {
      line += c;
    } else if (line.back() != ' ') {
      line += ' ';
    }
  }
  return line;
}

// Takes paragraphs in turn and keeps the prose.
class PodReader {
 public:
  void Take(std::string_view paragraph) {
    if (paragraph.front() == '=' && paragraph.size() > 1 && std::isalpha(Byte(paragraph[1]))) {
      return Command(paragraph);
    }
    if (!in_pod_ || foreign_depth_ > 0 || paragraph.front() == ' ' || paragraph.front() == '\t') {
      return;
    }
    Prose(paragraph);
  }

  std::string text() && { return std::move(text_); }

 private:
  static unsigned char Byte(char c) { return static_cast<unsigned char>(c); }

  void Command(std::string_view paragraph) {
    size_t end = 1;
    while (end < paragraph.size() && !IsSpace(paragraph[end])) ++end;
    const std::string_view name = paragraph.substr(1, end - 1);
    const std::string_view rest = Trim(paragraph.substr(end));
    in_pod_ = name != "cut";
    if (name == "begin") ++foreign_depth_;
    if (name == "end" && foreign_depth_ > 0) --foreign_depth_;
    if (foreign_depth_ > 0) return;
    if (name.substr(0, 4) == "head") Prose(rest);
    if (name == "item") Prose(WithoutBullet(rest));
  }

  // "*", "1." and "1" in front of an item are marks, not text.
  static std::string_view WithoutBullet(std::string_view item) {
    size_t end = 0;
    if (!item.empty() && item[0] == '*') {
      end = 1;
    } else {
      while (end < item.size() && std::isdigit(Byte(item[end]))) ++end;
      if (end > 0 && end < item.size() && item[end] == '.') ++end;
    }
    const bool is_mark = end == item.size() || IsSpace(item[end]);
    return is_mark ? Trim(item.substr(end)) : item;
  }

  void Prose(std::string_view paragraph) {
    constexpr int kNestingMax = 32;
    const std::string line = OneLine(StripCodes(paragraph, kNestingMax));
    if (line.empty()) return;
    if (!text_.empty()) text_ += '\n';
    text_ += line;
    text_ += '\n';
  }

  std::string text_;
  bool in_pod_ = false;
  int foreign_depth_ = 0;  // inside =begin ... =end
};

bool IsBlank(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](char c) { return IsSpace(c); });
}

// Calls take(paragraph) for each stretch of lines between blank ones.
template <typename Take>
void ForEachParagraph(std::string_view source, Take take) {
  size_t begin = 0;
  size_t at = 0;
  while (at < source.size()) {
    const size_t newline = source.find('\n', at);
    const size_t end = newline == std::string_view::npos ? source.size() : newline + 1;
    if (IsBlank(source.substr(at, end - at))) {
      if (at > begin) take(source.substr(begin, at - begin));
      begin = end;
    }
    at = end;
  }
  if (begin < source.size()) take(source.substr(begin));
}

}  // namespace

std::string PodToText(std::string_view source) {
  PodReader reader;
  ForEachParagraph(source, [&](std::string_view paragraph) { reader.Take(paragraph); });
  return std::move(reader).text();
}

std::string PodEncoding(std::string_view source) {
  constexpr std::string_view kCommand = "=encoding";
  size_t at = source.find(kCommand);
  while (at != std::string_view::npos && at > 0 && source[at - 1] != '\n') {
    at = source.find(kCommand, at + 1);
  }
  if (at == std::string_view::npos) return "";
  const std::string_view line = source.substr(at + kCommand.size());
  std::string name(Trim(line.substr(0, line.find('\n'))));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return name;
}

bool IsLatin1(const std::string& encoding) {
  return encoding.empty() || encoding == "latin1" || encoding == "latin-1" ||
         encoding == "iso-8859-1" || encoding == "iso8859-1";
}

std::string Latin1ToUtf8(std::string_view text) {
  std::string out;
  for (const char c : text) AppendUtf8(static_cast<unsigned char>(c), &out);
  return out;
}

}  // namespace trainyard::cli
