#include <algorithm>
#include <string>
#include <string_view>

#include "data/prepare/command/printable_text.h"
#include "data/prepare/command/progress.h"
#include "data/prepare/views/step_documents.h"
#include "data/report/run_text.h"

namespace trainyard::data {
namespace {

using nlohmann::ordered_json;

// First column of the output.
std::string StepLabel(std::string text) {
  text.resize(std::max<size_t>(text.size() + 1, 13), ' ');
  return text;
}

std::string RangeText(int64_t begin, int64_t end) {
  return ReadableCount(begin) + " to " + ReadableCount(end);
}

int64_t FirstInDocument(const DocumentPart& part) { return part.tokens.begin - part.first_token; }

std::string ShownPartText(const ShownPart& shown, const StepDocumentsOptions& options) {
  const DocumentPart& part = shown.part;
  const int64_t begin = FirstInDocument(part);
  const int64_t tokens = part.tokens.end - part.tokens.begin;
  std::string text = "  document " + ReadableCount(part.number) + ": tokens " +
                     RangeText(begin, begin + tokens - 1);
  if (shown.begin_byte) {
    const auto bytes = static_cast<int64_t>(shown.text.size());
    text += ", bytes " + RangeText(*shown.begin_byte, *shown.begin_byte + bytes);
  }
  if (!shown.place.empty()) text += "\n    from " + shown.place;
  const std::string_view start = BeginOfText(shown.text, static_cast<size_t>(options.max_bytes));
  text += "\n    " + WithoutControls(Dumped(ordered_json(start)));
  return text + (start.size() < shown.text.size() ? " ...\n" : "\n");
}

std::string SampleText(const ShownSample& shown, const ShownSource& source,
                       const StepDocumentsOptions& options) {
  const StepSample& sample = shown.sample;
  std::string text =
      "\n" + StepLabel("sample " + ReadableCount(sample.index + 1)) + source.path + ", " +
      source.split + " tokens " + RangeText(shown.tokens.begin, shown.tokens.end - 1) + "; pass " +
      ReadableCount(shown.pass) + ", data-parallel rank " + std::to_string(sample.data_index) +
      ", number " + ReadableCount(sample.number) + " of the run\n";
  for (const ShownPart& part : shown.parts) text += ShownPartText(part, options);
  if (shown.other_documents > 0) {
    text += "  and " + ReadableCount(shown.other_documents) + " more documents\n";
  }
  return text;
}

std::string SourceText(const ShownSource& source) {
  if (source.split.empty()) return "";
  std::string text = StepLabel("data set") + source.path;
  for (size_t i = 0; i < source.inputs.size(); ++i) {
    text += (i == 0 ? ", made from " : ", ") + source.inputs[i];
  }
  return text + "\n";
}

// Names the next command, for the first document.
std::string NextText(const StepDocuments& documents) {
  for (const ShownSample& sample : documents.samples) {
    if (sample.parts.empty()) continue;
    const ShownSource& source = documents.sources[static_cast<size_t>(sample.sample.source)];
    return "\n" + StepLabel("next") + "trainyard data show " + source.path + " " + source.split +
           ":" + std::to_string(sample.parts.front().part.number) + "  # a whole document\n";
  }
  return "";
}

ordered_json PartJson(const ShownPart& shown, const StepDocumentsOptions& options) {
  const DocumentPart& part = shown.part;
  const int64_t begin = FirstInDocument(part);
  ordered_json bytes;
  if (shown.begin_byte) {
    bytes = {*shown.begin_byte, *shown.begin_byte + static_cast<int64_t>(shown.text.size())};
  }
  return {{"number", part.number},
          {"first_token", part.first_token},
          {"tokens", {begin, begin + part.tokens.end - part.tokens.begin}},
          {"bytes", std::move(bytes)},
          {"place", shown.place.empty() ? ordered_json() : ordered_json(shown.place)},
          {"text", BeginOfText(shown.text, static_cast<size_t>(options.max_bytes))}};
}

ordered_json SampleJson(const ShownSample& shown, const ShownSource& source,
                        const StepDocumentsOptions& options) {
  ordered_json parts = ordered_json::array();
  for (const ShownPart& part : shown.parts) parts.push_back(PartJson(part, options));
  return {{"sample", shown.sample.index + 1},
          {"number", shown.sample.number},
          {"position", shown.sample.position},
          {"data_parallel_rank", shown.sample.data_index},
          {"path", source.path},
          {"split", source.split},
          {"pass", shown.pass},
          {"window", shown.window},
          {"tokens", {shown.tokens.begin, shown.tokens.end}},
          {"documents", std::move(parts)},
          {"other_documents", shown.other_documents}};
}

}  // namespace

std::string StepText(const StepDocuments& documents, const StepDocumentsOptions& options) {
  std::string text = StepLabel("job") + options.job + "\n" + StepLabel("step") +
                     ReadableCount(options.step) + ": " + ReadableCount(options.batch) +
                     " samples of " + ReadableCount(options.seq_length) + " tokens, " +
                     ReadableCount(static_cast<int64_t>(options.samples.size())) + " shown\n";
  for (const ShownSource& source : documents.sources) text += SourceText(source);
  for (const ShownSample& sample : documents.samples) {
    const auto source = static_cast<size_t>(sample.sample.source);
    text += SampleText(sample, documents.sources[source], options);
  }
  return text + NextText(documents);
}

std::string StepJson(const StepDocuments& documents, const StepDocumentsOptions& options) {
  ordered_json sources = ordered_json::array();
  for (const ShownSource& source : documents.sources) {
    if (source.split.empty()) continue;
    sources.push_back({{"path", source.path}, {"inputs", source.inputs}});
  }
  ordered_json samples = ordered_json::array();
  for (const ShownSample& sample : documents.samples) {
    const auto source = static_cast<size_t>(sample.sample.source);
    samples.push_back(SampleJson(sample, documents.sources[source], options));
  }
  return Dumped({{"format", "trainyard-step-documents"},
                 {"version", 1},
                 {"job", options.job},
                 {"step", options.step},
                 {"batch", options.batch},
                 {"seq_length", options.seq_length},
                 {"data_sets", std::move(sources)},
                 {"samples", std::move(samples)}}) +
         "\n";
}

}  // namespace trainyard::data
