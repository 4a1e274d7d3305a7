// The part of ShellExpander that expands variables: `$NAME`, `${NAME:-word}`, `${LIST[@]}`.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cli/convert/shell/shell_expansion.h"
#include "cli/convert/shell/shell_token.h"

namespace trainyard::cli {
namespace {

// Returns the length of the name at the start: a word, digits, or one special character.
size_t ParameterNameLength(absl::string_view text) {
  size_t length = 0;
  const bool is_number =
      !text.empty() && absl::ascii_isdigit(static_cast<unsigned char>(text[0])) != 0;
  while (length < text.size() &&
         (is_number ? absl::ascii_isdigit(static_cast<unsigned char>(text[length])) != 0
                    : IsShellNameByte(text[length]))) {
    ++length;
  }
  if (length == 0 && !text.empty() && absl::StrContains("@*#?$!-", text[0])) return 1;
  return length;
}

// The text of `$'...'` without its escapes.
std::string Unescaped(absl::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      result += text[at];
      continue;
    }
    const char byte = text[++at];
    result += byte == 'n' ? '\n' : byte == 't' ? '\t' : byte == 'r' ? '\r' : byte;
  }
  return result;
}

ShellText Part(const ShellText& text, size_t begin, size_t size) {
  begin = std::min(begin, text.size());
  const auto first = text.begin() + static_cast<std::ptrdiff_t>(begin);
  return {first, first + static_cast<std::ptrdiff_t>(std::min(size, text.size() - begin))};
}

// Removes the shortest or longest prefix or suffix that matches the pattern.
ShellText Trimmed(const ShellText& text, const ShellText& pattern, bool is_prefix, bool is_long) {
  // The comparison is quadratic, so the length is limited.
  constexpr size_t kMaxTrimmedBytes = 4096;
  const std::string bytes = BytesOf(text);
  if (bytes.size() > kMaxTrimmedBytes) return text;
  for (size_t i = 0; i <= bytes.size(); ++i) {
    const size_t length = is_long ? bytes.size() - i : i;
    const size_t rest = bytes.size() - length;
    const std::string part = is_prefix ? bytes.substr(0, length) : bytes.substr(rest);
    if (!MatchesGlob(pattern, part)) continue;
    return is_prefix ? Part(text, length, rest) : Part(text, 0, rest);
  }
  return text;
}

// Replaces a literal text.
ShellText Replaced(const ShellText& text, const std::string& from, const ShellText& to,
                   bool is_everywhere) {
  ShellText result;
  std::string bytes = BytesOf(text);
  size_t at = 0;
  while (at < text.size()) {
    const size_t found = from.empty() ? std::string::npos : bytes.find(from, at);
    if (found == std::string::npos) break;
    const ShellText before = Part(text, at, found - at);
    result.insert(result.end(), before.begin(), before.end());
    result.insert(result.end(), to.begin(), to.end());
    at = found + from.size();
    if (!is_everywhere) break;
  }
  const ShellText rest = Part(text, at, text.size());
  result.insert(result.end(), rest.begin(), rest.end());
  return result;
}

}  // namespace

size_t ShellExpander::ExpandDollar(absl::string_view raw, size_t at, Place& place, Output& out) {
  const char next = at + 1 < raw.size() ? raw[at + 1] : '\0';
  const absl::string_view rest = raw.substr(at + 1);
  if (next == '"' && !place.is_quoted) return at + 1;
  const bool is_bracketed = next == '(' || next == '{' || (next == '\'' && !place.is_quoted);
  if (!is_bracketed) {
    const size_t length = ParameterNameLength(rest);
    const std::string written(raw.substr(at, length + 1));
    if (next == '[') {  // The old form of arithmetic.
      Append(OpenText("$", place.line), true, out);
    } else if (length == 0) {
      AppendLiteral("$", place, out);
    }
    if (length > 0) {
      ExpandParameter({written, std::string(rest.substr(0, length)), "", "", false}, place, out);
    }
    return at + 1 + length;
  }
  const size_t end = std::min(ShellPieceEnd(raw, at), raw.size());
  const std::string written(raw.substr(at, end - at));
  const std::string inner = written.substr(2, std::max<size_t>(written.size(), 3) - 3);
  if (next == '\'') {
    Append(KnownText(Unescaped(inner), place.line), true, out);
  } else if (next == '{') {
    const bool is_length = inner.size() > 1 && inner[0] == '#';
    const bool is_indirect = inner.size() > 1 && inner[0] == '!';
    const absl::string_view body =
        absl::string_view(inner).substr(is_length || is_indirect ? 1 : 0);
    const size_t length = ParameterNameLength(body);
    Parameter parameter{written, std::string(body.substr(0, length)), "", "", is_length};
    absl::string_view tail = body.substr(length);
    if (const size_t close = tail.find(']'); absl::StartsWith(tail, "[") && close != tail.npos) {
      parameter.subscript = std::string(tail.substr(1, close - 1));
      tail.remove_prefix(close + 1);
    }
    parameter.operation = std::string(tail);
    if (is_indirect) parameter.name = KnownValue(parameter.name).value_or("");
    ExpandParameter(parameter, place, out);
  } else if (absl::StartsWith(inner, "(") && absl::EndsWith(inner, ")")) {
    const std::optional<int64_t> value =
        Arithmetic({inner.substr(1, inner.size() - 2), place.line});
    Append(value.has_value() ? KnownText(absl::StrCat(*value), place.line)
                             : OpenText(written, place.line),
           place.is_quoted, out);
  } else {
    Substitute(inner, written, place, out);
  }
  place.line += static_cast<int>(std::count(written.begin(), written.end(), '\n'));
  return end;
}

const std::vector<ShellText>* ShellExpander::Lookup(const Parameter& parameter,
                                                    std::vector<ShellText>& storage) {
  const std::string& name = parameter.name;
  used_.insert(name);
  if (const auto found = state_.variables.find(name); found != state_.variables.end()) {
    const ShellValue& value = found->second;
    if (!value.is_list || parameter.subscript == "@" || parameter.subscript == "*") {
      return &value.items;
    }
    const std::optional<int64_t> index =
        parameter.subscript.empty() ? 0 : Arithmetic({parameter.subscript, 1});
    const auto size = static_cast<int64_t>(value.items.size());
    if (!index.has_value() || *index >= size || *index < -size) return nullptr;
    storage = {value.items[static_cast<size_t>(*index < 0 ? *index + size : *index)]};
    return &storage;
  }
  // A script that is called without arguments has none.
  if (name == "@" || name == "*") return &state_.arguments;
  if (name == "#") {
    storage = {KnownText(absl::StrCat(state_.arguments.size()), 1)};
    return &storage;
  }
  size_t index = 0;
  if (!absl::SimpleAtoi(name, &index) || index == 0) return nullptr;
  if (index <= state_.arguments.size()) {
    storage = {state_.arguments[index - 1]};
    return &storage;
  }
  if (!state_.has_arguments) return nullptr;
  storage = {ShellText()};
  return &storage;
}

std::optional<std::string> ShellExpander::KnownValue(const std::string& name) {
  std::vector<ShellText> storage;
  const std::vector<ShellText>* items = Lookup({"", name, "", "", false}, storage);
  if (items == nullptr || items->empty() || !IsKnown(items->front())) return std::nullopt;
  return BytesOf(items->front());
}

void ShellExpander::ExpandParameter(const Parameter& parameter, Place place, Output& out) {
  std::vector<ShellText> storage;
  const std::vector<ShellText>* items = Lookup(parameter, storage);
  if (parameter.is_length && items != nullptr) {
    const bool counts = parameter.subscript == "@" || parameter.subscript == "*";
    const size_t length = counts || items->empty() ? items->size() : items->front().size();
    return Append(KnownText(absl::StrCat(length), place.line), place.is_quoted, out);
  }
  if (ExpandDefault(parameter, items, place, out)) return;
  if (items == nullptr) {
    return Append(OpenText(parameter.written, place.line, ShellGlyph::Source::kUnset),
                  place.is_quoted, out);
  }
  if (parameter.operation.empty()) return ExpandItems(*items, parameter, place, out);
  std::vector<ShellText> edited;
  // Copied, because an operation may assign to the variable.
  for (const ShellText& item : std::vector<ShellText>(*items)) {
    const std::optional<ShellText> text = Edited(item, parameter.operation, place.line);
    edited.push_back(text.value_or(OpenText(parameter.written, place.line)));
  }
  ExpandItems(edited, parameter, place, out);
}

void ShellExpander::ExpandItems(const std::vector<ShellText>& items, const Parameter& parameter,
                                Place place, Output& out) {
  const bool separates =
      parameter.name == "@" || parameter.subscript == "@" ||
      (!place.is_quoted && (parameter.name == "*" || parameter.subscript == "*"));
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0 && separates && out.splits) {
      EndField(out);
    } else if (i > 0) {
      Append(KnownText(" ", place.line), place.is_quoted, out);
    }
    Append(items[i], place.is_quoted, out);
    // An empty item within quotes is a word.
    if (place.is_quoted && separates) out.has_current = true;
  }
}

bool ShellExpander::ExpandDefault(const Parameter& parameter, const std::vector<ShellText>* items,
                                  Place place, Output& out) {
  const std::string& operation = parameter.operation;
  const size_t colon = absl::StartsWith(operation, ":") ? 1 : 0;
  const char kind = operation.size() > colon ? operation[colon] : '\0';
  if (kind == '\0' || !absl::StrContains("-=+?", kind)) return false;
  const bool is_empty =
      items != nullptr && (items->empty() || (items->size() == 1 && items->front().empty()));
  const bool is_set = items != nullptr && !(colon == 1 && is_empty);
  const std::string word = operation.substr(colon + 1);
  if (kind == '?') {
    if (is_set) return ExpandItems(*items, parameter, place, out), true;
    return false;
  }
  if (kind == '+') {
    if (is_set) Expand(word, place, out);
    return true;
  }
  if (is_set) {
    ExpandItems(*items, parameter, place, out);
    return true;
  }
  if (kind == '=') {
    state_.variables[parameter.name].items = {Value({word, place.line})};
    Append(state_.variables[parameter.name].items[0], place.is_quoted, out);
    return true;
  }
  Output text;
  text.splits = false;
  Expand(word, place, text);
  // The blanks of a default are split like those of a value, unless they are quoted in it.
  for (const ShellGlyph& glyph : text.current) Append({glyph}, glyph.is_quoted, out);
  if (place.is_quoted || absl::StrContains(word, '"')) out.has_current = true;
  return true;
}

std::optional<ShellText> ShellExpander::Edited(const ShellText& text, const std::string& operation,
                                               int line) {
  if (!IsKnown(text)) return std::nullopt;
  const char kind = operation[0];
  const bool is_double = operation.size() > 1 && operation[1] == kind;
  const std::string operand = operation.substr(is_double ? 2 : 1);
  if (kind == '#' || kind == '%') {
    const ShellText pattern = Value({operand, line});
    if (!IsKnown(pattern)) return std::nullopt;
    return Trimmed(text, pattern, kind == '#', is_double);
  }
  if (kind == '/') {
    const size_t slash = operand.find('/');
    const ShellText from = Value({operand.substr(0, slash), line});
    const ShellText to =
        slash == std::string::npos ? ShellText() : Value({operand.substr(slash + 1), line});
    const std::string bytes = BytesOf(from);
    const bool is_pattern = bytes.find_first_of("*?[") != std::string::npos;
    if (!IsKnown(from) || !IsKnown(to) || is_pattern) return std::nullopt;
    return Replaced(text, bytes, to, is_double);
  }
  if ((kind == '^' || kind == ',') && operand.empty()) {
    ShellText changed = text;
    for (size_t i = 0; i < changed.size() && (is_double || i == 0); ++i) {
      const auto byte = static_cast<unsigned char>(changed[i].byte);
      changed[i].byte = kind == '^' ? absl::ascii_toupper(byte) : absl::ascii_tolower(byte);
    }
    return changed;
  }
  if (kind != ':') return std::nullopt;
  const size_t colon = operand.find(':');
  const std::optional<int64_t> begin = Arithmetic({operand.substr(0, colon), line});
  const std::optional<int64_t> size =
      colon == std::string::npos ? std::optional<int64_t>(static_cast<int64_t>(text.size()))
                                 : Arithmetic({operand.substr(colon + 1), line});
  if (!begin.has_value() || !size.has_value() || *size < 0) return std::nullopt;
  const int64_t first = *begin < 0 ? *begin + static_cast<int64_t>(text.size()) : *begin;
  if (first < 0) return std::nullopt;
  return Part(text, static_cast<size_t>(first), static_cast<size_t>(*size));
}

}  // namespace trainyard::cli
