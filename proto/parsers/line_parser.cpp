#include "proto/parsers/line_parser.h"

#include "proto/text/line_prefix.h"
#include "proto/text/utf8.h"
#include "re2/re2.h"

namespace trainyard {
namespace {

using re2::RE2;

// Returns the text that a terminal would finally show, without escape sequences. The result is
// valid UTF-8, because RE2 does not match past an invalid byte.
std::string VisibleText(std::string_view line) {
  static const RE2 kEscape(
      "\x1b\\[[0-9;:?]*[@-~]|"                 // Colors and movements of the cursor.
      "\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|"  // Titles and links.
      "\x1b[()][0-9A-Z]|\x1b[=>78cDEHM]");
  const std::size_t overwritten = line.rfind('\r');
  if (overwritten != std::string_view::npos) line.remove_prefix(overwritten + 1);
  std::string text = ReplaceInvalidUtf8(line);
  if (text.find('\x1b') != std::string::npos) RE2::GlobalReplace(&text, kEscape, "");
  return text;
}

}  // namespace

std::optional<v1::MetricsRecord> LogParser::Parse(std::string_view line,
                                                  LineContext& context) const {
  if (!MayHoldRecord(line) || IsOfOtherRank(line)) return std::nullopt;
  std::optional<v1::MetricsRecord> record = ParseLine(line, context);
  if (!record.has_value()) return std::nullopt;
  for (const auto& [name, factor] : scale_) {
    const auto value = record->mutable_values()->find(name);
    if (value != record->mutable_values()->end()) value->second *= factor;
  }
  return record;
}

bool LogParser::IsOfOtherRank(std::string_view line) const {
  if (!only_rank_.has_value()) return false;
  const std::optional<LineLabel> label = LineLabelOf(line);
  if (!label.has_value()) return false;
  return label->number + (label->is_local ? only_rank_->first_rank : 0) != only_rank_->rank;
}

std::optional<v1::MetricsRecord> LogParser::ParseLine(std::string_view line,
                                                      LineContext& context) const {
  constexpr std::string_view kCursorUp = "\x1b[A";
  context.moves_up = line.find(kCursorUp) != std::string_view::npos;
  const std::string text = VisibleText(line);
  if (std::optional<v1::MetricsRecord> record = ParseText(text, context)) return record;
  const std::string_view message = WithoutLinePrefixes(text);
  if (message.size() == text.size()) return std::nullopt;
  return ParseText(std::string(message), context);
}

std::optional<v1::MetricsRecord> LogParser::Parse(std::string_view line) const {
  LineContext context;
  return Parse(line, context);
}

}  // namespace trainyard
