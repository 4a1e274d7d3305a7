#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "data/prepare/command/progress.h"
#include "data/prepare/views/inspect.h"

namespace trainyard::data {
namespace {

using nlohmann::ordered_json;

constexpr size_t kFieldsShown = 20;

std::string RowLabel(std::string text) {
  text.resize(13, ' ');
  return text;
}

std::string Percent(int64_t part, int64_t whole) {
  char text[32];
  std::snprintf(
      text, sizeof(text), "%.1f %%",
      100.0 * static_cast<double>(part) / static_cast<double>(std::max<int64_t>(whole, 1)));
  return text;
}

// Writes control characters as JSON does, so that a sample has one line.
std::string OneLine(const std::string& text) {
  return ordered_json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string KindsText(const InspectResult& result) {
  std::string text;
  for (const KindSummary& kind : result.kinds) {
    text += RowLabel(text.empty() ? "files" : "") + ReadableCount(kind.files) + " " + kind.kind +
            (kind.compression.empty() ? "" : " (" + kind.compression + ")") + ", " +
            ReadableBytes(kind.bytes) + "\n";
  }
  return text;
}

std::string JsonLinesText(const InspectResult& result) {
  if (result.lines == 0) return "";
  const bool has_rows = std::any_of(result.kinds.begin(), result.kinds.end(),
                                    [](const KindSummary& kind) { return kind.kind == "parquet"; });
  std::string text = RowLabel("lines") + ReadableCount(result.lines) +
                     (has_rows ? " of JSON or rows of Parquet, " : " of JSON, ") +
                     ReadableCount(result.bad) + " bad (" + Percent(result.bad, result.lines) + ")";
  const char* separator = ": ";
  for (const auto& [kind, count] : result.bad_kinds) {
    text += separator + ReadableCount(count) + " " + kind;
    separator = ", ";
  }
  text += "\n";
  for (const BadLineExample& line : result.bad_lines) {
    text += RowLabel("bad line") + line.file + ":" + std::to_string(line.line) + ": " + line.cause +
            "\n";
  }
  return text;
}

std::string TypesText(const FieldSummary& field) {
  std::string text;
  for (size_t type = 0; type < kJsonTypes; ++type) {
    if (field.types[type] == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(kJsonTypeNames[type]);
    if (field.types[type] != field.count) text += " " + ReadableCount(field.types[type]);
  }
  return text;
}

std::string FieldsText(const InspectResult& result) {
  std::string text;
  const size_t shown = std::min(result.fields.size(), kFieldsShown);
  for (size_t i = 0; i < shown; ++i) {
    const FieldSummary& field = result.fields[i];
    text += RowLabel(text.empty() ? "fields" : "") + OneLine(field.key) + ": " +
            ReadableCount(field.count) + " (" + Percent(field.count, result.lines) + "), " +
            TypesText(field) + "\n";
  }
  if (shown < result.fields.size() || result.other_fields > 0) {
    text += RowLabel("") + "and others; -o json lists up to 1,000\n";
  }
  return text;
}

std::string NextText(const InspectResult& result) {
  if (result.documents == 0) {
    return RowLabel("next") +
           "no text was found; pass the name of the field that contains it with --field\n";
  }
  return RowLabel("next") + "trainyard data prepare FILES --tokenizer TOKENIZER --out DIR" +
         (result.bad > 0 ? " --bad-fraction FRACTION" : "") + "\n";
}

}  // namespace

std::string InspectText(const InspectResult& result) {
  std::string text = KindsText(result) +                                          //
                     RowLabel("documents") + ReadableCount(result.documents) +    //
                     " with text, " + ReadableCount(result.empty) + " empty\n" +  //
                     RowLabel("text") + ReadableBytes(result.bytes) + "\n" +      //
                     RowLabel("lengths") + "p50 " + ReadableBytes(result.p50) +   //
                     ", p90 " + ReadableBytes(result.p90) +                       //
                     ", max " + ReadableBytes(result.max) + "\n" +                //
                     JsonLinesText(result) + FieldsText(result);
  if (result.repaired > 0) {
    text += RowLabel("not UTF-8") + ReadableCount(result.repaired) + " lines or blocks of text\n";
  }
  for (const SampleDocument& document : result.sample) {
    text += RowLabel("sample") + OneLine(document.text) + "\n";
  }
  return text + NextText(result);
}

std::string InspectJson(const InspectResult& result) {
  ordered_json kinds = ordered_json::array();
  for (const KindSummary& kind : result.kinds) {
    kinds.push_back({{"kind", kind.kind},
                     {"compression", kind.compression},
                     {"files", kind.files},
                     {"bytes", kind.bytes}});
  }
  ordered_json bad_kinds = ordered_json::object();
  for (const auto& [kind, count] : result.bad_kinds) bad_kinds[kind] = count;
  ordered_json bad_lines = ordered_json::array();
  for (const BadLineExample& line : result.bad_lines) {
    bad_lines.push_back(
        {{"file", line.file}, {"line", line.line}, {"kind", line.kind}, {"cause", line.cause}});
  }
  ordered_json fields = ordered_json::array();
  for (const FieldSummary& field : result.fields) {
    ordered_json types = ordered_json::object();
    for (size_t type = 0; type < kJsonTypes; ++type) {
      if (field.types[type] > 0) types[kJsonTypeNames[type]] = field.types[type];
    }
    fields.push_back({{"key", field.key}, {"count", field.count}, {"types", types}});
  }
  ordered_json sample = ordered_json::array();
  for (const SampleDocument& document : result.sample) sample.push_back(document.text);
  const ordered_json json = {
      {"files", kinds},
      {"documents", result.documents},
      {"empty_documents", result.empty},
      {"bytes", result.bytes},
      {"lengths", {{"p50", result.p50}, {"p90", result.p90}, {"max", result.max}}},
      {"lines", result.lines},
      {"bad", result.bad},
      {"bad_kinds", bad_kinds},
      {"bad_lines", bad_lines},
      {"repaired", result.repaired},
      {"fields", fields},
      {"other_fields", result.other_fields},
      {"sample", sample}};
  // A path need not be UTF-8.
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace trainyard::data
