#include "data/prepare/views/verify.h"

#include <utility>

#include "data/prepare/tokenizers/check_tokenizer.h"
#include "data/tokens/dataset_description.h"
#include "data/tokens/split_check.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

int64_t BytesOf(const DatasetDescription& description) {
  int64_t bytes = 0;
  for (const SplitDescription& split : description.splits) {
    for (const TokenFileFacts& file : split.files) bytes += file.bytes;
  }
  return bytes;
}

// A name or a label, padded to the column of the values.
std::string Label(std::string text) {
  text.resize(13, ' ');
  return text;
}

std::string SplitText(const SplitDescription& split, size_t problems) {
  return Label(split.split) + ReadableCount(split.tokens) + " tokens, " +
         ReadableCount(split.documents) + " documents: " +
         (problems == 0 ? "correct"
                        : std::to_string(problems) + (problems == 1 ? " problem" : " problems")) +
         "\n";
}

}  // namespace

absl::StatusOr<VerifyReport> VerifyDataset(const VerifyOptions& options, Progress* progress,
                                           const std::atomic<bool>& cancelled) {
  TRAINYARD_ASSIGN_OR_RETURN(const DatasetDescription description,
                             ReadDescription(options.directory));
  TokenizerCheck tokenizer = CheckTokenizerFiles(options.directory, description);
  VerifyReport report;
  report.text = Label("data set") + options.directory + "\n" + Label("format") +
                NameOf(description.format) + "\n";
  SplitCheckSettings settings;
  settings.format = description.format;
  settings.marks_in_text = tokenizer.marks_in_text;
  settings.advance = [&](int64_t bytes) {
    progress->Advance(bytes);
    return !cancelled;
  };
  progress->Start("verifying", BytesOf(description));
  for (const SplitDescription& split : description.splits) {
    std::vector<std::string> problems = CheckSplit(options.directory, split, settings);
    if (cancelled) return absl::CancelledError("interrupted; not all files were read");
    report.text += SplitText(split, problems.size());
    for (std::string& problem : problems) report.problems.push_back(std::move(problem));
  }
  progress->Stop();
  report.text += Label("tokenizer") + tokenizer.text + "\n";
  for (std::string& problem : tokenizer.problems) report.problems.push_back(std::move(problem));
  return report;
}

}  // namespace trainyard::data
