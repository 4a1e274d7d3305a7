#include "data/prepare/views/report_data.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "data/prepare/command/progress.h"
#include "data/prepare/tokenizers/choose_tokenizer.h"
#include "data/prepare/views/report_texts.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

constexpr size_t kInputsShown = 10;
constexpr size_t kReasonsShown = 20;

// A row of the table. `of`: number of documents that are 100 %; 0 for none.
struct ReportRow {
  std::string name;
  int64_t documents = 0;
  int64_t bytes = 0;
  int64_t of = 0;
  std::string note;
};

std::string ReportRowText(const ReportRow& row) {
  char share[16] = "";
  if (row.of > 0) {
    std::snprintf(share, sizeof(share), "%.2f%%",
                  100 * static_cast<double>(row.documents) / static_cast<double>(row.of));
  }
  char text[200];
  std::snprintf(text, sizeof(text), "%-24.100s %13s %10s %8s", row.name.c_str(),
                ReadableCount(row.documents).c_str(), ReadableBytes(row.bytes).c_str(), share);
  return text + (row.note.empty() ? "" : "  " + row.note) + "\n";
}

std::string NoteRow(const std::string& name, const std::string& note) {
  std::string text = name;
  text.resize(std::max<size_t>(text.size() + 1, 25), ' ');
  return text + note + "\n";
}

std::string JoinedSamples(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + text;
  return joined;
}

// The inputs that no other step of the report wrote.
std::string StepInputsText(const StepReport& step) {
  std::string text;
  size_t shown = 0;
  for (const StepInput& input : step.inputs) {
    if (input.step) continue;
    if (++shown > kInputsShown) continue;
    const std::string note = ReadableCount(input.files) + " files, " + ReadableBytes(input.bytes) +
                             " on disk, " + input.directory;
    const std::string name = input.use == "train" ? "inputs" : input.use;
    text += input.documents_in ? ReportRowText({name, *input.documents_in, input.bytes_in, 0, note})
                               : NoteRow(name, note);
  }
  if (shown > kInputsShown) {
    text += NoteRow("", "and " + std::to_string(shown - kInputsShown) + " other directories");
  }
  return text;
}

std::string StepClustersText(const nlohmann::ordered_json& details) {
  if (!details.contains("largest")) return "";
  std::string text;
  for (const nlohmann::ordered_json& cluster : details["largest"]) {
    char similarity[32];
    std::snprintf(similarity, sizeof(similarity), "%.2f", cluster.value("lowest_similarity", 1.0));
    text += NoteRow("  cluster", ReadableCount(cluster.value("documents", int64_t{0})) +
                                     " documents, lowest similarity " + similarity + ", kept " +
                                     cluster.value("kept", ""));
  }
  return text;
}

std::string RunStepText(const StepReport& step) {
  std::string text = ReportRowText(
      {step.name, step.documents_out, step.bytes_out, step.documents_in, step.directory});
  for (size_t i = 0; i < std::min(step.dropped.size(), kReasonsShown); ++i) {
    const StepDrop& drop = step.dropped[i];
    text += ReportRowText({"  - " + drop.reason, drop.documents, drop.bytes, step.documents_in,
                           JoinedSamples(drop.samples)});
  }
  if (step.dropped.size() > kReasonsShown) {
    text += NoteRow(
        "", "and " + std::to_string(step.dropped.size() - kReasonsShown) + " other reasons");
  }
  if (step.bad_lines > 0) text += NoteRow("  bad lines", ReadableCount(step.bad_lines));
  return text + StepClustersText(step.details);
}

std::string TokenSplitText(const StepSplit& split) {
  std::string note = ReadableCount(split.tokens) + " tokens";
  if (split.bytes) {
    char ratio[32];
    std::snprintf(ratio, sizeof(ratio), ", %.2f bytes per token",
                  static_cast<double>(*split.bytes) /
                      static_cast<double>(std::max<int64_t>(split.tokens, 1)));
    note += ratio;
  }
  return ReportRowText({"  " + split.name, split.documents, split.bytes.value_or(0), 0, note});
}

std::string TokenStepText(const StepReport& step) {
  std::string text = NoteRow(step.name, step.directory);
  for (const StepSplit& split : step.splits) text += TokenSplitText(split);
  if (step.tokenizer.is_object()) {
    text += NoteRow("  tokenizer", step.tokenizer.value("name", "") + ", fingerprint " +
                                       step.tokenizer.value("fingerprint", ""));
  }
  if (step.bad_lines > 0) text += NoteRow("  bad lines", ReadableCount(step.bad_lines));
  return text;
}

// Shows the weights of the first stage.
std::string MixStepText(const StepReport& step) {
  std::string text = NoteRow(step.name, step.directory);
  for (const nlohmann::ordered_json& source : step.mix["sources"]) {
    char weight[32];
    std::snprintf(weight, sizeof(weight), "%.4g %%", 100 * source["weight"].get<double>());
    std::string note =
        weight + (" of the samples, from " + ReadableCount(source["tokens"]) + " tokens");
    if (source["epochs"].is_number()) {
      char passes[48];
      std::snprintf(passes, sizeof(passes), ", read %.2f times", source["epochs"].get<double>());
      note += passes;
    }
    text += NoteRow("  " + source["name"].get<std::string>(), note);
  }
  return text;
}

std::string StepText(const StepReport& step) {
  if (!step.mix.is_null()) return MixStepText(step);
  return step.splits.empty() ? RunStepText(step) : TokenStepText(step);
}

// Lengths of which half and a tenth of the documents are longer. They are known up to a factor
// of 2.
std::string LengthsText(const ChainReport& report) {
  for (auto step = report.steps.rbegin(); step != report.steps.rend(); ++step) {
    if (step->lengths.empty()) continue;
    int64_t all = 0;
    for (const auto& [bits, documents] : step->lengths) all += documents;
    const auto below = [&](double fraction) {
      int64_t seen = 0;
      for (const auto& [bits, documents] : step->lengths) {
        seen += documents;
        if (static_cast<double>(seen) >= fraction * static_cast<double>(all)) {
          return ReadableBytes(int64_t{1} << bits);
        }
      }
      return ReadableBytes(0);
    };
    return NoteRow("lengths after " + step->name, "p50 below " + below(0.5) + ", p90 below " +
                                                      below(0.9) + ", max below " + below(1));
  }
  return "";
}

}  // namespace

absl::StatusOr<std::string> ReportData(const ReportOptions& options) {
  if (options.texts && options.output != "json") {
    return absl::InvalidArgumentError("--texts adds texts to the JSON; also pass -o json");
  }
  TRAINYARD_ASSIGN_OR_RETURN(const ChainReport report, ReadChain(options.directory));
  if (options.output != "json") return ReportText(report);
  if (!options.texts) return ChainJson(report);
  std::vector<ReportTokenizer> tokenizers;
  for (const std::string& name : options.tokenizers) {
    TRAINYARD_ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> tokenizer, ChooseTokenizer(name, {}));
    tokenizers.push_back({name, std::move(tokenizer)});
  }
  nlohmann::ordered_json document = ChainDocument(report);
  for (size_t i = 0; i < report.steps.size(); ++i) {
    document["steps"][i]["texts"] = TextsOfStep(report.steps[i]);
  }
  document["tokenized"] = TokenizedTexts(report, tokenizers);
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string ReportText(const ChainReport& report) {
  char header[100];
  std::snprintf(header, sizeof(header), "%-24s %13s %10s %8s\n", "step", "documents", "text",
                "of input");
  std::string text = header;
  std::string problems;
  for (const StepReport& step : report.steps) {
    text += StepInputsText(step) + StepText(step);
    for (const std::string& problem : step.problems) problems += "problem: " + problem + "\n";
  }
  if (report.omits_steps) {
    problems += "problem: only the last " + std::to_string(ChainReport::kStepsMax) +
                " steps are shown; run the command on an input directory to see earlier ones\n";
  }
  return text + LengthsText(report) + problems;
}

}  // namespace trainyard::data
