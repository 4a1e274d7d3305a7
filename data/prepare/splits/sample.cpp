#include "data/prepare/splits/sample.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include "data/documents/bad_lines.h"
#include "data/prepare/command/block_pass.h"
#include "data/prepare/splits/split_hash.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// Bytes of text used to train a tokenizer. More text would not improve it.
constexpr int64_t kSampleBytes = 16 << 20;
constexpr size_t kSentenceBytes = 4000;

// Appends each line as a sentence. Long lines are cut at spaces, because SentencePiece's trainer
// would ignore them.
void AddSentences(std::string_view text, std::vector<std::string>* sentences) {
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    if (end > kSentenceBytes) {
      const size_t space = text.rfind(' ', kSentenceBytes);
      end = space == std::string_view::npos || space == 0 ? kSentenceBytes : space;
      while (end > 1 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    }
    if (end > 0) sentences->emplace_back(text.substr(0, end));
    text.remove_prefix(end < text.size() && text[end] == '\n' ? end + 1 : end);
  }
}

}  // namespace

absl::StatusOr<std::vector<std::string>> SampleText(const Job& job, uint64_t val_threshold) {
  using Sentences = std::vector<std::string>;
  const double share = std::min(
      1.0, static_cast<double>(kSampleBytes) / static_cast<double>(TextBytes(job.files) + 1));
  const uint64_t keep = share >= 1 ? std::numeric_limits<uint64_t>::max() : ThresholdOf(share);
  Sentences sentences;
  BadLineLog log(job.bad_line_policy());
  job.progress->Start("sampling", job.bytes);
  TRAINYARD_RETURN_IF_ERROR(ForEachPart<Sentences>(
      job, {}, &log,
      [&](int, const TextPart& part, Sentences* sample) {
        const bool is_training = HashOf(part.text) >= val_threshold;
        if (is_training && HashOf(part.text, 1) <= keep) AddSentences(part.text, sample);
      },
      [&](const PassedBlock&, const Sentences& sample) {
        std::copy(sample.begin(), sample.end(), std::back_inserter(sentences));
        return absl::OkStatus();
      }));
  job.progress->Stop();
  return sentences;
}

}  // namespace trainyard::data
