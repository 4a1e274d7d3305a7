#include "data/prepare/tokenizers/count.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "data/documents/bad_lines.h"
#include "data/prepare/command/block_pass.h"
#include "data/prepare/command/job.h"
#include "data/prepare/tokenizers/choose_tokenizer.h"
#include "data/tokenizer/fingerprint.h"
#include "data/tokenizer/tokenizer.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

struct PartCount {
  int64_t bytes = 0;
  int64_t tokens = 0;
  bool has_special_text = false;
  bool ends_document = false;
};

// Adds up the parts of documents, in the order of the input.
class Totals {
 public:
  explicit Totals(TokenizerCount* count) : count_(*count) {}

  void Add(const PartCount& part) {
    count_.bytes += part.bytes;
    count_.tokens += part.tokens;
    has_text_ |= part.bytes > 0;
    has_special_text_ |= part.has_special_text;
    if (!part.ends_document) return;
    if (std::exchange(has_text_, false)) ++count_.documents;
    if (std::exchange(has_special_text_, false)) ++count_.special_documents;
  }

 private:
  TokenizerCount& count_;
  bool has_text_ = false;  // of the present document
  bool has_special_text_ = false;
};

PartCount CountPart(const TextPart& part, const Tokenizer& tokenizer, std::vector<uint32_t>* ids) {
  ids->clear();
  if (part.begins_document) {
    tokenizer.Encode(part.text, ids);
  } else {
    tokenizer.EncodeAfterCut(part.text, ids);
  }
  return {static_cast<int64_t>(part.text.size()), static_cast<int64_t>(ids->size()),
          tokenizer.HasSpecialText(part.text), part.ends_document};
}

// Converts .pod files into the cache of the job. Otherwise the time of the first tokenizer would
// include the time of Perl.
absl::Status ConvertPods(const Job& job) {
  std::vector<InputFile> files;
  std::copy_if(job.files.begin(), job.files.end(), std::back_inserter(files),
               [](const InputFile& file) { return file.kind == InputKind::kPod; });
  if (files.empty()) return absl::OkStatus();
  const Job pods = Job::Of(std::move(files), job.options, job.progress, job.cancelled, &job.pods);
  BadLineLog log(pods.bad_line_policy());
  struct Nothing {};
  job.progress->Start("converting POD", pods.bytes);
  TRAINYARD_RETURN_IF_ERROR(ForEachPart<Nothing>(
      pods, {}, &log, [](int, const TextPart&, Nothing*) {},
      [](const PassedBlock&, const Nothing&) { return absl::OkStatus(); }));
  job.progress->Stop();
  return absl::OkStatus();
}

absl::Status CountWith(const Tokenizer& tokenizer, const Job& job, TokenizerCount* count,
                       std::string* bad_lines) {
  count->name = tokenizer.name();
  count->fingerprint = FingerprintText(tokenizer.fingerprint());
  count->vocab_size = tokenizer.vocab_size();
  Totals totals(count);
  BadLineLog log(job.bad_line_policy());
  std::vector<std::vector<uint32_t>> ids(static_cast<size_t>(job.threads));
  job.progress->Start("counting " + count->source, job.bytes);
  const double started = job.progress->Seconds();
  using Parts = std::vector<PartCount>;
  TRAINYARD_RETURN_IF_ERROR(ForEachPart<Parts>(
      job, CutsOf(tokenizer), &log,
      [&](int thread, const TextPart& part, Parts* parts) {
        parts->push_back(CountPart(part, tokenizer, &ids[static_cast<size_t>(thread)]));
      },
      [&](const PassedBlock&, const Parts& parts) {
        for (const PartCount& part : parts) totals.Add(part);
        return absl::OkStatus();
      }));
  count->seconds = job.progress->Seconds() - started;
  job.progress->Stop();
  *bad_lines = log.bad() > 0 ? log.Summary() : "";
  return absl::OkStatus();
}

double BytesPerToken(const TokenizerCount& count) {
  return static_cast<double>(count.bytes) / static_cast<double>(std::max<int64_t>(count.tokens, 1));
}

double MegabytesPerSecond(const TokenizerCount& count) {
  return static_cast<double>(count.bytes) / 1e6 / std::max(count.seconds, 1e-6);
}

std::string Row(const TokenizerCount& count, size_t width) {
  char numbers[160];
  std::snprintf(numbers, sizeof(numbers), "%17s  %9s  %17s  %11.3f  %8.2f  %7.1f\n",
                ReadableCount(count.documents).c_str(), ReadableBytes(count.bytes).c_str(),
                ReadableCount(count.tokens).c_str(), BytesPerToken(count), count.seconds,
                MegabytesPerSecond(count));
  std::string name = count.source;
  name.resize(std::max(width, name.size()), ' ');
  return name + numbers;
}

}  // namespace

absl::StatusOr<CountResult> CountTokens(const CountOptions& options, Progress* progress,
                                        const std::atomic<bool>& cancelled) {
  std::vector<std::unique_ptr<Tokenizer>> tokenizers;
  for (const std::string& source : options.tokenizers) {
    TRAINYARD_ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> tokenizer,
                               ChooseTokenizer(source, options.tokenizer_options));
    tokenizers.push_back(std::move(tokenizer));
  }
  PodTexts pods;
  TRAINYARD_ASSIGN_OR_RETURN(const Job job, Job::Create(options, progress, cancelled, &pods));
  TRAINYARD_RETURN_IF_ERROR(ConvertPods(job));
  CountResult result;
  result.files = static_cast<int64_t>(job.files.size());
  for (size_t i = 0; i < tokenizers.size(); ++i) {
    TokenizerCount count;
    count.source = options.tokenizers[i];
    TRAINYARD_RETURN_IF_ERROR(CountWith(*tokenizers[i], job, &count, &result.bad_lines));
    result.tokenizers.push_back(std::move(count));
  }
  return result;
}

std::string CountText(const CountResult& result) {
  size_t width = 9;
  for (const TokenizerCount& count : result.tokenizers) {
    width = std::max(width, count.source.size());
  }
  std::string text = "TOKENIZER";
  text.resize(width, ' ');
  text += "        DOCUMENTS       TEXT             TOKENS  BYTES/TOKEN   SECONDS     MB/S\n";
  for (const TokenizerCount& count : result.tokenizers) text += Row(count, width);
  for (const TokenizerCount& count : result.tokenizers) {
    if (count.special_documents == 0) continue;
    text += ReadableCount(count.special_documents) + " documents contain special tokens of " +
            count.source + "\n";
  }
  if (!result.bad_lines.empty()) text += "bad lines: " + result.bad_lines + "\n";
  return text;
}

std::string CountJson(const CountResult& result) {
  nlohmann::ordered_json tokenizers = nlohmann::ordered_json::array();
  for (const TokenizerCount& count : result.tokenizers) {
    tokenizers.push_back({{"tokenizer", count.source},
                          {"name", count.name},
                          {"fingerprint", count.fingerprint},
                          {"vocab_size", count.vocab_size},
                          {"documents", count.documents},
                          {"bytes", count.bytes},
                          {"tokens", count.tokens},
                          {"bytes_per_token", BytesPerToken(count)},
                          {"special_documents", count.special_documents},
                          {"seconds", count.seconds},
                          {"megabytes_per_second", MegabytesPerSecond(count)}});
  }
  const nlohmann::ordered_json json = {{"files", result.files}, {"tokenizers", tokenizers}};
  return json.dump(2) + "\n";
}

}  // namespace trainyard::data
