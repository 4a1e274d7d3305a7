#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "data/prepare/command/printable_text.h"
#include "data/prepare/command/progress.h"
#include "data/prepare/views/show_data.h"
#include "data/report/run_text.h"

namespace trainyard::data {
namespace {

using nlohmann::ordered_json;

constexpr size_t kFieldBytesShown = 1000;

std::string ShownLabel(std::string text) {
  text.resize(13, ' ');
  return text;
}

std::string OriginsText(const DocumentOrigins& origins) {
  std::string text;
  for (const DocumentOrigin& origin : origins.origins) {
    text += ShownLabel("input of") + origin.step + ": " + origin.place + "\n";
  }
  if (origins.problem.empty()) return text;
  return text + ShownLabel("origin") + "unknown: " + origins.problem + "\n";
}

std::string RunFactsText(const ShownRun& run) {
  std::string text = ShownLabel("document") + (run.is_dropped ? "dropped" : "kept") + " by " +
                     run.stage + ", number " + ReadableCount(run.number) + " of the " +
                     (run.is_dropped ? "dropped" : "kept") + " documents\n";
  if (run.is_dropped) text += ShownLabel("reason") + Dumped(run.reason) + "\n";
  text += OriginsText(run.origins);
  for (const auto& [key, value] : run.fields.items()) {
    text += ShownLabel("field") + key + ": " +
            std::string(BeginOfText(Dumped(value), kFieldBytesShown)) + "\n";
  }
  return text;
}

std::string TokenFactsText(const ShownTokens& tokens) {
  return ShownLabel("document") + ReadableCount(tokens.number) + " of the " + tokens.split +
         " split, " + ReadableCount(static_cast<int64_t>(tokens.tokens)) + " tokens from token " +
         ReadableCount(tokens.first_token) + "\n" + OriginsText(tokens.origins);
}

double BytesPerId(const TextPieces& pieces, const ShownDocument& document) {
  return static_cast<double>(document.text.size()) /
         static_cast<double>(std::max<size_t>(pieces.ids.size(), 1));
}

// The text with a bar between the pieces. Control characters are escaped as in JSON.
std::string PiecesText(const TextPieces& pieces, size_t bytes_max) {
  if (pieces.ends.empty()) return "";
  std::string text;
  size_t begin = 0;
  for (const size_t end : pieces.ends) {
    if (end > bytes_max) break;
    const std::string quoted = Dumped(pieces.text.substr(begin, end - begin));
    text += (begin == 0 ? "" : "|") + quoted.substr(1, quoted.size() - 2);
    begin = end;
  }
  return text + "\n";
}

std::string TokenizerText(const TextPieces& pieces, const ShownDocument& document,
                          size_t bytes_max) {
  char ratio[32];
  std::snprintf(ratio, sizeof(ratio), "%.2f", BytesPerId(pieces, document));
  return ShownLabel("tokenizer") + pieces.source + ": " +
         ReadableCount(static_cast<int64_t>(pieces.ids.size())) + " tokens, " + ratio +
         " bytes per token" +
         (pieces.text == document.text ? "" : ", after normalization of the text") + "\n" +
         PiecesText(pieces, bytes_max);
}

ordered_json OriginsJson(const DocumentOrigins& origins) {
  ordered_json list = ordered_json::array();
  for (const DocumentOrigin& origin : origins.origins) {
    list.push_back({{"step", origin.step}, {"place", origin.place}});
  }
  return list;
}

ordered_json RunFactsJson(const ShownRun& run) {
  ordered_json fields = ordered_json::object();
  for (const auto& [key, value] : run.fields.items()) {
    // A long value is cut, and then is the beginning of its JSON text.
    const std::string text = Dumped(value);
    fields[key] =
        text.size() <= kFieldBytesShown ? value : ordered_json(BeginOfText(text, kFieldBytesShown));
  }
  return {{"step", run.stage},
          {"dropped", run.is_dropped},
          {"number", run.number},
          {"reason", run.reason},
          {"fields", fields},
          {"origins", OriginsJson(run.origins)},
          {"origin_problem", run.origins.problem}};
}

ordered_json PiecesJson(const TextPieces& pieces, const ShownDocument& document, size_t bytes_max) {
  const bool is_same = pieces.text == document.text;
  ordered_json ids = ordered_json::array();
  ordered_json ends = ordered_json::array();
  for (size_t i = 0; i < pieces.ends.size() && pieces.ends[i] <= bytes_max; ++i) {
    ids.push_back(pieces.ids[i]);
    ends.push_back(pieces.ends[i]);
  }
  return {{"tokenizer", pieces.source},
          {"name", pieces.name},
          {"tokens", pieces.ids.size()},
          {"bytes_per_token", BytesPerId(pieces, document)},
          {"normalized_text",
           is_same ? ordered_json() : ordered_json(BeginOfText(pieces.text, bytes_max))},
          {"ids", std::move(ids)},
          {"ends", std::move(ends)}};
}

}  // namespace

std::string ShownText(const ShownDocument& document, const ShowOptions& options) {
  const auto bytes_max = static_cast<size_t>(options.max_bytes);
  std::string text = ShownLabel("directory") + document.directory + "\n";
  if (document.run) text += RunFactsText(*document.run);
  if (document.tokens) text += TokenFactsText(*document.tokens);
  text += ShownLabel("text") + ReadableBytes(static_cast<int64_t>(document.text.size())) + "\n\n" +
          WithoutControls(BeginOfText(document.text, bytes_max)) + "\n";
  if (document.text.size() > bytes_max) {
    text += "... " + ReadableBytes(static_cast<int64_t>(document.text.size() - bytes_max)) +
            " more; raise --max-bytes\n";
  }
  for (const TextPieces& pieces : document.tokenizers) {
    text += "\n" + TokenizerText(pieces, document, bytes_max);
  }
  return text;
}

std::string ShownJson(const ShownDocument& document, const ShowOptions& options) {
  const auto bytes_max = static_cast<size_t>(options.max_bytes);
  ordered_json tokenizers = ordered_json::array();
  for (const TextPieces& pieces : document.tokenizers) {
    tokenizers.push_back(PiecesJson(pieces, document, bytes_max));
  }
  ordered_json tokens;
  if (document.tokens) {
    tokens = {{"split", document.tokens->split},
              {"number", document.tokens->number},
              {"first_token", document.tokens->first_token},
              {"tokens", document.tokens->tokens},
              {"origins", OriginsJson(document.tokens->origins)},
              {"origin_problem", document.tokens->origins.problem}};
  }
  const ordered_json json = {{"format", "trainyard-document"},
                             {"version", 1},
                             {"directory", document.directory},
                             {"run", document.run ? RunFactsJson(*document.run) : ordered_json()},
                             {"token_files", std::move(tokens)},
                             {"bytes", document.text.size()},
                             {"text", BeginOfText(document.text, bytes_max)},
                             {"tokenizers", std::move(tokenizers)}};
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace trainyard::data
