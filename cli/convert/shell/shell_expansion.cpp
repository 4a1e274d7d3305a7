#include "cli/convert/shell/shell_expansion.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/convert/shell/shell_arithmetic.h"
#include "cli/convert/shell/shell_braces.h"
#include "cli/convert/shell/shell_substitution.h"
#include "cli/convert/shell/shell_token.h"

namespace trainyard::cli {
namespace {

bool IsFieldBlank(const ShellGlyph& glyph) {
  return glyph.source == ShellGlyph::Source::kKnown &&
         absl::ascii_isspace(static_cast<unsigned char>(glyph.byte)) != 0;
}

int NewlinesIn(absl::string_view text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

// A field with a `*` outside quotes stands for the files that match it.
void MarkGlob(ShellText& field) {
  const bool is_glob = std::any_of(field.begin(), field.end(), [](const ShellGlyph& glyph) {
    return glyph.byte == '*' && !glyph.is_quoted;
  });
  if (!is_glob) return;
  for (ShellGlyph& glyph : field) glyph.source = ShellGlyph::Source::kOpen;
}

// True for a `~` that stands for a home directory.
bool IsHome(absl::string_view raw, size_t at) {
  const bool begins = at == 0 || raw[at - 1] == '=' || raw[at - 1] == ':';
  return raw[at] == '~' && begins && (at + 1 == raw.size() || raw[at + 1] == '/');
}

}  // namespace

std::vector<ShellText> ShellExpander::Fields(const std::vector<RawWord>& words) {
  std::vector<ShellText> fields;
  for (const RawWord& word : words) {
    for (const RawWord& part : ExpandBraces(word)) {
      Output out;
      Expand(part.text, {part.line, false}, out);
      EndField(out);
      for (ShellText& field : out.fields) {
        MarkGlob(field);
        fields.push_back(std::move(field));
      }
    }
  }
  return fields;
}

ShellText ShellExpander::Value(const RawWord& word) {
  Output out;
  out.splits = false;
  Expand(word.text, {word.line, false}, out);
  return out.current;
}

std::vector<ShellText> ShellExpander::Items(const RawWord& list) {
  const absl::string_view inner =
      absl::string_view(list.text).substr(1, std::max<size_t>(list.text.size(), 2) - 2);
  const absl::StatusOr<ShellTokens> tokens = ReadShellTokens(inner, list.line);
  std::vector<RawWord> words;
  if (!tokens.ok()) return {OpenText(list.text, list.line)};
  for (const ShellToken& token : tokens->tokens) {
    if (token.kind == ShellToken::Kind::kWord) words.push_back({token.text, token.line});
  }
  return Fields(words);
}

ShellText ShellExpander::Document(const RawWord& document) {
  // A quote has no meaning in a document, but a backslash and a `$` have.
  ShellText text;
  absl::string_view raw = document.text;
  int line = document.line;
  while (!raw.empty()) {
    const size_t quote = std::min(raw.find('"'), raw.size());
    Output out;
    out.splits = false;
    Expand(raw.substr(0, quote), {line, true}, out);
    text.insert(text.end(), out.current.begin(), out.current.end());
    line += NewlinesIn(raw.substr(0, quote));
    if (quote < raw.size()) text.push_back({'"', true, ShellGlyph::Source::kKnown, line});
    raw.remove_prefix(std::min(quote + 1, raw.size()));
  }
  return text;
}

std::optional<int64_t> ShellExpander::Arithmetic(const RawWord& expression) {
  bool is_known = true;
  const std::string text = PlainText(expression.text, expression.line, is_known);
  if (!is_known) return std::nullopt;
  ArithmeticVariables variables;
  variables.read = [this](const std::string& name) { return KnownValue(name); };
  variables.write = [&](const std::string& name, std::optional<int64_t> value) {
    ShellValue& variable = state_.variables[name];
    variable.items = {value.has_value() ? KnownText(absl::StrCat(*value), expression.line)
                                        : OpenText(absl::StrCat("$", name), expression.line)};
    variable.is_list = false;
  };
  return EvaluateArithmetic(text, variables);
}

// Expands a text as within double quotes.
std::string ShellExpander::PlainText(absl::string_view raw, int line, bool& is_known) {
  Output out;
  out.splits = false;
  Expand(raw, {line, true}, out);
  is_known = IsKnown(out.current);
  return BytesOf(out.current);
}

void ShellExpander::Expand(absl::string_view raw, Place place, Output& out) {
  if (++depth_ > kMaxDepth) {
    AppendLiteral(raw, place, out);
    --depth_;
    return;
  }
  for (size_t at = 0; at < raw.size() && !is_exhausted();) {
    const char byte = raw[at];
    if (byte == '\\') {
      at = ExpandBackslash(raw, at, place, out);
    } else if (byte == '"' || (byte == '\'' && !place.is_quoted)) {
      at = ExpandQuoted(raw, at, place, out);
    } else if (byte == '$') {
      at = ExpandDollar(raw, at, place, out);
    } else if (byte == '`') {
      const size_t end = std::min(ShellPieceEnd(raw, at), raw.size());
      const absl::string_view written = raw.substr(at, end - at);
      Substitute(written.substr(1, std::max<size_t>(written.size(), 2) - 2), written, place, out);
      at = end;
    } else if ((!place.is_quoted && IsHome(raw, at)) || absl::StartsWith(raw.substr(at), "<(") ||
               absl::StartsWith(raw.substr(at), ">(")) {
      const size_t end = byte == '~' || place.is_quoted ? at + 1 : raw.size();
      Append(place.is_quoted ? KnownText(raw.substr(at, 1), place.line)
                             : OpenText(raw.substr(at, end - at), place.line),
             place.is_quoted, out);
      at = end;
    } else {
      AppendLiteral(raw.substr(at++, 1), place, out);
      if (byte == '\n') ++place.line;
    }
  }
  --depth_;
}

size_t ShellExpander::ExpandBackslash(absl::string_view raw, size_t at, Place& place, Output& out) {
  if (at + 1 == raw.size()) {
    AppendLiteral("\\", {place.line, true}, out);
    return at + 1;
  }
  const char next = raw[at + 1];
  if (next == '\n') {
    ++place.line;
  } else if (place.is_quoted && !absl::StrContains("$`\"\\", next)) {
    AppendLiteral(raw.substr(at, 2), {place.line, true}, out);
  } else {
    AppendLiteral(raw.substr(at + 1, 1), {place.line, true}, out);
  }
  return at + 2;
}

// Reads '...' or "...", and marks an empty text as a word.
size_t ShellExpander::ExpandQuoted(absl::string_view raw, size_t at, Place& place, Output& out) {
  const size_t end = std::min(ShellPieceEnd(raw, at), raw.size());
  const bool is_closed = end >= at + 2 && raw[end - 1] == raw[at];
  const absl::string_view inner = raw.substr(at + 1, end - at - (is_closed ? 2 : 1));
  // `"${LIST[@]}"` is no word if the list is empty.
  const bool is_list = inner == "$@" || (absl::StartsWith(inner, "${") &&
                                         inner.find("[@]}") == inner.find('}') - 3 &&
                                         inner.find('}') + 1 == inner.size());
  if (raw[at] == '\'') {
    AppendLiteral(inner, {place.line, true}, out);
  } else {
    Expand(inner, {place.line, true}, out);
  }
  if (!is_list) out.has_current = true;
  place.line += NewlinesIn(inner);
  return end;
}

void ShellExpander::Substitute(absl::string_view command, absl::string_view written, Place place,
                               Output& out) {
  const std::optional<std::string> result = ResultOf(command, place.line);
  Append(result.has_value() ? KnownText(*result, place.line) : OpenText(written, place.line),
         place.is_quoted, out);
}

std::optional<std::string> ShellExpander::ResultOf(absl::string_view command, int line) {
  const absl::StatusOr<ShellTokens> tokens = ReadShellTokens(command, line);
  if (!tokens.ok() || depth_ >= kMaxDepth) return std::nullopt;
  std::vector<RawWord> words;
  for (const ShellToken& token : tokens->tokens) {
    if (token.kind == ShellToken::Kind::kEnd) break;
    if (token.kind != ShellToken::Kind::kWord) return std::nullopt;
    words.push_back({token.text, token.line});
  }
  std::vector<std::string> arguments;
  for (const ShellText& field : Fields(words)) {
    if (!IsKnown(field)) return std::nullopt;
    arguments.push_back(BytesOf(field));
  }
  return SubstitutionResult(arguments);
}

void ShellExpander::Append(const ShellText& text, bool is_quoted, Output& out) {
  expanded_ += text.size();
  if (is_exhausted()) return;
  for (ShellGlyph glyph : text) {
    if (!is_quoted && out.splits && IsFieldBlank(glyph)) {
      EndField(out);
      continue;
    }
    glyph.is_quoted = is_quoted || glyph.source != ShellGlyph::Source::kKnown;
    out.current.push_back(glyph);
    out.has_current = true;
  }
}

// Appends text of the word itself, which is not split.
void ShellExpander::AppendLiteral(absl::string_view bytes, Place place, Output& out) {
  for (const char byte : bytes) {
    out.current.push_back({byte, place.is_quoted, ShellGlyph::Source::kKnown, place.line});
    if (byte == '\n') ++place.line;
  }
  if (!bytes.empty()) out.has_current = true;
}

void ShellExpander::EndField(Output& out) {
  if (out.has_current) out.fields.push_back(std::move(out.current));
  out.current.clear();
  out.has_current = false;
}

}  // namespace trainyard::cli
