#include "data/pipeline/report_sender.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "data/pipeline/passes.h"
#include "data/prepare/tokenizers/choose_tokenizer.h"
#include "data/report/chain.h"
#include "data/report/dataset_step.h"
#include "proto/contract/data_report.h"

namespace trainyard::data {
namespace {

using nlohmann::ordered_json;

constexpr char kAlwaysShown[] = "gpt2";
constexpr size_t kTokenizersShown = 6;

struct TokenizerSource {
  std::string source;
  TokenizerOptions options;
};

std::vector<TokenizerSource> SourcesIn(const Pipeline& pipeline) {
  std::vector<TokenizerSource> sources;
  const auto add = [&](const std::string& source, const TokenizerOptions& options) {
    const bool is_known = std::any_of(sources.begin(), sources.end(),
                                      [&](const auto& known) { return known.source == source; });
    if (!is_known && sources.size() < kTokenizersShown) sources.push_back({source, options});
  };
  for (const PipelineStep& step : pipeline.steps) {
    if (const auto* tokenize = std::get_if<TokenizeStep>(&step.options)) {
      add(tokenize->tokenizer.empty() ? TrainedTokenizer(pipeline) : tokenize->tokenizer,
          tokenize->tokenizer_options);
    } else if (const auto* count = std::get_if<CountOptions>(&step.options)) {
      for (const std::string& source : TokenizersOf(pipeline, *count)) {
        add(source, count->tokenizer_options);
      }
    }
  }
  add(kAlwaysShown, {});
  return sources;
}

std::string DumpedReport(const ordered_json& document) {
  // A path need not be UTF-8.
  return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

// True if the step changes the data set.
bool ChangesDataset(const PipelineStep& step) {
  return !std::holds_alternative<TrainTokenizerOptions>(step.options) &&
         !std::holds_alternative<CountOptions>(step.options);
}

// The finished data sets of all steps. A report describes the steps behind only one of them.
ordered_json DataSetsOf(const Pipeline& pipeline) {
  ordered_json sets = ordered_json::array();
  for (const PipelineStep& step : pipeline.steps) {
    if (!std::holds_alternative<TokenizeStep>(step.options)) continue;
    const absl::StatusOr<StepReport> made = ReadDatasetStep(DirectoryOf(pipeline, step));
    if (!made.ok() || made->splits.empty() || sets.size() == kMaxReportDataSets) continue;
    const StepSplit& train = made->splits.front();
    sets.push_back({{kReportPath, made->directory},
                    {kReportChecksum, train.xxh64},
                    {kReportTokens, train.tokens}});
  }
  return sets;
}

}  // namespace

void ReportSender::Send(const PipelineStep& step) {
  if (!context_.telemetry->IsActive() || !ChangesDataset(step)) return;
  const absl::StatusOr<ChainReport> report = ReadChain(DirectoryOf(context_.pipeline, step));
  if (!report.ok()) {
    context_.progress->PrintLine("no report is sent: " + std::string(report.status().message()));
    return;
  }
  std::string text = TextOf(*report);
  if (text.size() > kMaxDataReportBytes) text = DumpedReport(DocumentOf(*report));
  if (text.size() > kMaxDataReportBytes) {
    context_.progress->PrintLine(
        "no report is sent, because it is larger than 1 MiB; run `trainyard data report " +
        report->steps.back().directory + "`");
    return;
  }
  context_.telemetry->WriteReport(text);
}

ordered_json ReportSender::DocumentOf(const ChainReport& report) const {
  ordered_json document = ChainDocument(report);
  document[kReportDataSets] = DataSetsOf(context_.pipeline);
  return document;
}

std::string ReportSender::TextOf(const ChainReport& report) {
  ordered_json document = DocumentOf(report);
  for (size_t i = 0; i < report.steps.size(); ++i) {
    const StepReport& step = report.steps[i];
    auto found = texts_.find(step.plan);
    if (found == texts_.end() || step.plan.empty()) {
      found = texts_.insert_or_assign(step.plan, TextsOfStep(step)).first;
    }
    document["steps"][i]["texts"] = found->second;
  }
  document["tokenized"] = TokenizedTexts(report, Tokenizers());
  return DumpedReport(document);
}

std::vector<ReportTokenizer> ReportSender::Tokenizers() const {
  std::vector<ReportTokenizer> tokenizers;
  for (const TokenizerSource& source : SourcesIn(context_.pipeline)) {
    auto tokenizer = ChooseTokenizer(source.source, source.options);
    if (tokenizer.ok()) tokenizers.push_back({source.source, *std::move(tokenizer)});
  }
  return tokenizers;
}

}  // namespace trainyard::data
