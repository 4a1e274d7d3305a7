#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "data/report/chain.h"
#include "proto/contract/data_report.h"

namespace trainyard::data {
namespace {

using nlohmann::ordered_json;

constexpr int kReportVersion = 1;
constexpr size_t kInputsListed = 100;
constexpr size_t kReasonsListed = 200;
constexpr size_t kSourcesReported = 100;

double ShareOf(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<int64_t>(whole, 1));
}

template <typename Value>
ordered_json OrNull(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

ordered_json InputJson(const StepInput& input) {
  return {{"directory", input.directory},
          {"use", input.use},
          {"step", OrNull(input.step)},
          {"plan", input.plan.empty() ? ordered_json() : ordered_json(input.plan)},
          {"files", input.files},
          {"bytes_on_disk", input.bytes},
          {"documents_in", OrNull(input.documents_in)},
          {"documents_out", OrNull(input.documents_out)},
          {"bytes_in", input.bytes_in},
          {"bytes_out", input.bytes_out}};
}

// Lists the largest inputs, and adds up the others.
void AddInputs(std::vector<StepInput> inputs, ordered_json* json) {
  std::stable_sort(inputs.begin(), inputs.end(),
                   [](const StepInput& a, const StepInput& b) { return a.bytes > b.bytes; });
  ordered_json list = ordered_json::array();
  int64_t other_files = 0;
  int64_t other_bytes = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i < kInputsListed) {
      list.push_back(InputJson(inputs[i]));
    } else {
      other_files += inputs[i].files;
      other_bytes += inputs[i].bytes;
    }
  }
  const size_t others = inputs.size() - std::min(inputs.size(), kInputsListed);
  (*json)["inputs"] = std::move(list);
  (*json)["other_inputs"] = {
      {"directories", others}, {"files", other_files}, {"bytes_on_disk", other_bytes}};
}

// The reasons are in descending order of documents.
void AddDropped(const StepReport& step, ordered_json* json) {
  ordered_json list = ordered_json::array();
  int64_t other_documents = 0;
  int64_t other_bytes = 0;
  for (size_t i = 0; i < step.dropped.size(); ++i) {
    const StepDrop& drop = step.dropped[i];
    if (i >= kReasonsListed) {
      other_documents += drop.documents;
      other_bytes += drop.bytes;
      continue;
    }
    list.push_back({{"reason", drop.reason},
                    {"documents", drop.documents},
                    {"bytes", drop.bytes},
                    {"share", ShareOf(drop.documents, step.documents_in)},
                    {"samples", drop.samples}});
  }
  const size_t others = step.dropped.size() - std::min(step.dropped.size(), kReasonsListed);
  (*json)["dropped"] = std::move(list);
  (*json)["other_dropped"] = {
      {"reasons", others}, {"documents", other_documents}, {"bytes", other_bytes}};
}

ordered_json LengthsJson(const std::map<int, int64_t>& lengths) {
  ordered_json list = ordered_json::array();
  for (const auto& [bits, documents] : lengths) {
    const int64_t begin = bits == 0 ? 0 : int64_t{1} << (bits - 1);
    list.push_back({{"from", begin}, {"below", int64_t{1} << bits}, {"documents", documents}});
  }
  return list;
}

ordered_json SlowestJson(const std::vector<SlowBlock>& blocks) {
  ordered_json list = ordered_json::array();
  for (const SlowBlock& block : blocks) {
    list.push_back({{"file", block.file},
                    {"begin", block.begin},
                    {"bytes_on_disk", block.bytes},
                    {"seconds", block.seconds}});
  }
  return list;
}

ordered_json RunJson(const StepReport& step) {
  ordered_json json = {{"documents_in", step.documents_in},
                       {"documents_out", step.documents_out},
                       {"bytes_in", step.bytes_in},
                       {"bytes_out", step.bytes_out}};
  AddDropped(step, &json);
  json["lengths"] = LengthsJson(step.lengths);
  json["slowest_blocks"] = SlowestJson(step.slowest);
  json["details"] = step.details;
  return json;
}

// Lists the sources with the most tokens, and adds up the others.
ordered_json SourceListJson(std::vector<StepSource> sources) {
  std::stable_sort(sources.begin(), sources.end(),
                   [](const StepSource& a, const StepSource& b) { return a.tokens > b.tokens; });
  StepSource others;
  for (size_t i = kSourcesReported; i < sources.size(); ++i) {
    others.documents += sources[i].documents;
    others.bytes += sources[i].bytes;
    others.tokens += sources[i].tokens;
  }
  if (sources.size() > kSourcesReported) {
    sources.resize(kSourcesReported);
    sources.push_back(others);
  }
  ordered_json list = ordered_json::array();
  for (const StepSource& source : sources) {
    list.push_back({{"directory", source.directory},
                    {"documents", source.documents},
                    {"bytes", source.bytes},
                    {"tokens", source.tokens},
                    {"bytes_per_token", ShareOf(source.bytes, source.tokens)}});
  }
  return list;
}

ordered_json TokensJson(const StepReport& step) {
  ordered_json splits = ordered_json::array();
  for (const StepSplit& split : step.splits) {
    ordered_json json = {{"name", split.name},           {"documents", split.documents},
                         {"tokens", split.tokens},       {"xxh64", split.xxh64},
                         {"bytes", OrNull(split.bytes)}, {"bytes_per_token", nullptr}};
    if (split.bytes) json["bytes_per_token"] = ShareOf(*split.bytes, split.tokens);
    splits.push_back(std::move(json));
  }
  return {{"tokenizer", step.tokenizer},
          {"splits", std::move(splits)},
          {"sources", SourceListJson(step.sources)}};
}

ordered_json StepJson(const StepReport& step) {
  ordered_json json = {{"directory", step.directory},
                       {"name", step.name},
                       {"plan", step.plan.empty() ? ordered_json() : ordered_json(step.plan)},
                       {"complete", step.is_complete},
                       {"blocks", step.blocks},
                       {"blocks_done", step.blocks_done},
                       {"seconds", step.seconds},
                       {"settings", step.settings}};
  AddInputs(step.inputs, &json);
  json["bad_lines"] = step.bad_lines;
  json["repaired"] = step.repaired;
  const bool has_tokens = !step.splits.empty();
  const bool is_run = !has_tokens && step.mix.is_null();
  json["run"] = is_run ? RunJson(step) : ordered_json();
  json["tokens"] = has_tokens ? TokensJson(step) : ordered_json();
  json["mix"] = step.mix;
  json["problems"] = step.problems;
  return json;
}

}  // namespace

ordered_json ChainDocument(const ChainReport& report) {
  ordered_json steps = ordered_json::array();
  for (const StepReport& step : report.steps) steps.push_back(StepJson(step));
  return {{"format", kDataReportFormat},
          {"version", kReportVersion},
          {"directory", report.steps.back().directory},
          {"omits_steps", report.omits_steps},
          {"steps", std::move(steps)}};
}

std::string ChainJson(const ChainReport& report) {
  // A path need not be UTF-8.
  return ChainDocument(report).dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace trainyard::data
