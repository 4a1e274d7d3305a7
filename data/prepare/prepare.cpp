#include "data/prepare/prepare.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "data/documents/text_parts.h"
#include "data/input/block_pipeline.h"
#include "data/input/block_reader.h"
#include "data/input/input_files.h"
#include "data/tokenizer/byte_tokenizer.h"
#include "data/tokenizer/sentencepiece_tokenizer.h"
#include "data/tokenizer/sentencepiece_training.h"
#include "data/tokenizer/tokenizer.h"
#include "data/tokens/output_directory.h"
#include "proto/contract/token_format.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// Bytes of text used to train a tokenizer. More text would not improve it.
constexpr int64_t kSampleBytes = 16 << 20;
constexpr size_t kSentenceBytes = 4000;

uint64_t HashOf(std::string_view text) { return XXH64(text.data(), text.size(), 0); }

// Returns the hash threshold. Parts of the text with a smaller hash go to the validation split;
// with threshold 0 it is empty.
uint64_t ThresholdOf(double fraction) {
  return static_cast<uint64_t>(std::ldexp(fraction, 63)) * 2;  // fraction < 1
}

struct EncodedPart {
  bool validates = false;
  bool begins_document = false;
  bool ends_document = false;
  uint64_t hash = 0;
  int64_t source_bytes = 0;
  std::vector<uint32_t> tokens;
};

struct EncodedBlock {
  int64_t raw_bytes = 0;
  std::vector<EncodedPart> parts;
};

// The smallest and largest hash of all parts. If a split is empty, they determine a new threshold.
struct HashRange {
  uint64_t smallest = std::numeric_limits<uint64_t>::max();
  uint64_t largest = 0;
  int64_t parts = 0;
};

// Settings and input files that all steps share.
struct Job {
  const PrepareOptions& options;
  const std::vector<InputFile> files;
  const int64_t bytes;
  const int threads;
  Progress* const progress;
  const std::atomic<bool>& cancelled;
  PodTexts& pods;
};

// Calls `work` for every block of the job's files, on all threads.
template <typename Result>
absl::Status ForEachBlock(const Job& job,
                          const std::function<absl::StatusOr<Result>(RawBlock)>& work,
                          const std::function<absl::Status(Result)>& take) {
  BlockReader reader(job.files);
  const auto next = [&](RawBlock* block) -> absl::StatusOr<bool> {
    if (job.cancelled) return absl::CancelledError("interrupted; nothing was kept");
    return reader.Next(block);
  };
  return BlockPipeline<RawBlock, Result>(job.threads).Run(next, work, take);
}

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

struct Sample {
  int64_t raw_bytes = 0;
  std::vector<std::string> sentences;
};

// Returns the text that trains the tokenizer: the whole text, or an even sample of it. The sample
// depends only on the text, so the same text gives the same tokenizer.
absl::StatusOr<std::vector<std::string>> SampleText(const Job& job, uint64_t val_threshold) {
  const double share =
      std::min(1.0, static_cast<double>(kSampleBytes) / static_cast<double>(job.bytes + 1));
  const uint64_t keep = share >= 1 ? std::numeric_limits<uint64_t>::max() : ThresholdOf(share);
  std::vector<std::string> sentences;
  job.progress->Start("sampling", job.bytes);
  TRAINYARD_RETURN_IF_ERROR(ForEachBlock<Sample>(
      job,
      [&](RawBlock block) -> absl::StatusOr<Sample> {
        std::vector<TextPart> parts;
        TRAINYARD_RETURN_IF_ERROR(DecodeBlock(block, job.options.field, job.pods, &parts));
        Sample sample = {static_cast<int64_t>(block.bytes.size()), {}};
        for (const TextPart& part : parts) {
          if (HashOf(part.text) < val_threshold) continue;
          if (XXH64(part.text.data(), part.text.size(), 1) > keep) continue;
          AddSentences(part.text, &sample.sentences);
        }
        return sample;
      },
      [&](Sample sample) {
        job.progress->Advance(sample.raw_bytes);
        std::move(sample.sentences.begin(), sample.sentences.end(), std::back_inserter(sentences));
        return absl::OkStatus();
      }));
  job.progress->Stop();
  return sentences;
}

absl::StatusOr<std::unique_ptr<Tokenizer>> MakeTokenizer(const Job& job, uint64_t val_threshold) {
  if (job.options.tokenizer == "byte") return MakeByteTokenizer();
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<std::string> sentences,
                             SampleText(job, val_threshold));
  if (sentences.empty()) return absl::DataLossError("the inputs contain no text");
  SentencePieceSettings settings;
  settings.algorithm = job.options.tokenizer == "unigram" ? "unigram" : "bpe";
  settings.vocab_size = job.options.vocab_size;
  job.progress->PrintLine("training a " + settings.algorithm + " tokenizer of " +
                          ReadableCount(settings.vocab_size) + " tokens on " +
                          ReadableCount(static_cast<int64_t>(sentences.size())) + " lines");
  std::string error;
  const std::string model = TrainSentencePiece(sentences, settings, &error);
  std::unique_ptr<Tokenizer> tokenizer;
  if (!model.empty()) tokenizer = MakeSentencePieceTokenizer(model, &error);
  if (tokenizer == nullptr) {
    return absl::InvalidArgumentError("cannot train a tokenizer on this text: " + error +
                                      "; try another --vocab-size, or --tokenizer byte");
  }
  return tokenizer;
}

absl::StatusOr<EncodedBlock> Encode(const RawBlock& block, const Job& job,
                                    const Tokenizer& tokenizer, uint64_t val_threshold) {
  std::vector<TextPart> parts;
  TRAINYARD_RETURN_IF_ERROR(DecodeBlock(block, job.options.field, job.pods, &parts));
  EncodedBlock encoded;
  encoded.raw_bytes = static_cast<int64_t>(block.bytes.size());
  for (const TextPart& part : parts) {
    EncodedPart result;
    result.hash = HashOf(part.text);
    result.validates = result.hash < val_threshold;
    result.begins_document = part.begins_document;
    result.ends_document = part.ends_document;
    result.source_bytes = static_cast<int64_t>(part.text.size());
    tokenizer.Encode(part.text, &result.tokens);
    encoded.parts.push_back(std::move(result));
  }
  return encoded;
}

// The writers of both splits. Consecutive parts of a document stay one document if they go to the
// same split.
class SplitWriters {
 public:
  static absl::StatusOr<SplitWriters> Create(const std::string& directory,
                                             const Tokenizer& tokenizer) {
    SplitWriters writers;
    TRAINYARD_ASSIGN_OR_RETURN(
        writers.train_, TokenWriter::Create(directory, token_format::kTrainSplit, tokenizer));
    TRAINYARD_ASSIGN_OR_RETURN(
        writers.val_, TokenWriter::Create(directory, token_format::kValidationSplit, tokenizer));
    return writers;
  }

  absl::Status Append(const EncodedPart& part) {
    TokenWriter* writer = part.validates ? val_.get() : train_.get();
    if (part.source_bytes > 0) {
      if (open_ != writer) TRAINYARD_RETURN_IF_ERROR(EndDocument());
      open_ = writer;
      TRAINYARD_RETURN_IF_ERROR(writer->Append(part.tokens, part.source_bytes));
      hashes_.smallest = std::min(hashes_.smallest, part.hash);
      hashes_.largest = std::max(hashes_.largest, part.hash);
      ++hashes_.parts;
    }
    return part.ends_document ? EndDocument() : absl::OkStatus();
  }

  absl::Status Finish(SplitTotals* train, SplitTotals* val) {
    TRAINYARD_ASSIGN_OR_RETURN(*train, train_->Finish());
    TRAINYARD_ASSIGN_OR_RETURN(*val, val_->Finish());
    return absl::OkStatus();
  }

  const HashRange& hashes() const { return hashes_; }
  bool train_is_empty() const { return train_->tokens() == 0; }
  bool val_is_empty() const { return val_->tokens() == 0; }

 private:
  absl::Status EndDocument() {
    TokenWriter* ended = std::exchange(open_, nullptr);
    return ended == nullptr ? absl::OkStatus() : ended->EndDocument();
  }

  std::unique_ptr<TokenWriter> train_;
  std::unique_ptr<TokenWriter> val_;
  TokenWriter* open_ = nullptr;  // the writer with an unfinished document, if any
  HashRange hashes_;
};

absl::StatusOr<SplitWriters> WriteSplits(const Job& job, const Tokenizer& tokenizer,
                                         const std::string& directory, uint64_t val_threshold) {
  TRAINYARD_ASSIGN_OR_RETURN(SplitWriters writers, SplitWriters::Create(directory, tokenizer));
  job.progress->Start("tokenizing", job.bytes);
  TRAINYARD_RETURN_IF_ERROR(ForEachBlock<EncodedBlock>(
      job, [&](RawBlock block) { return Encode(block, job, tokenizer, val_threshold); },
      [&](EncodedBlock block) {
        for (const EncodedPart& part : block.parts) {
          TRAINYARD_RETURN_IF_ERROR(writers.Append(part));
        }
        job.progress->Advance(block.raw_bytes);
        return absl::OkStatus();
      }));
  job.progress->Stop();
  return writers;
}

// Returns a threshold with which neither split is empty. Returns InvalidArgument if the text is too
// short for two splits.
absl::StatusOr<uint64_t> RepairedThreshold(const SplitWriters& writers, double fraction) {
  const HashRange& hashes = writers.hashes();
  if (hashes.parts == 0) return absl::DataLossError("the inputs contain no text");
  if (hashes.smallest == hashes.largest) {
    return absl::InvalidArgumentError(
        "the text is too short to hold out a part for validation; add text, or pass --val-fraction "
        "0");
  }
  if (writers.val_is_empty() && fraction > 0) return hashes.smallest + 1;
  return hashes.largest;
}

// Writes both splits. If a split is empty by chance, because the text is short, writes both again:
// an empty validation split gets the part with the smallest hash, an empty training split the part
// with the largest hash.
absl::StatusOr<SplitWriters> WriteNonEmptySplits(const Job& job, const Tokenizer& tokenizer,
                                                 const std::string& directory) {
  const double fraction = job.options.val_fraction;
  const uint64_t threshold = ThresholdOf(fraction);
  TRAINYARD_ASSIGN_OR_RETURN(SplitWriters writers,
                             WriteSplits(job, tokenizer, directory, threshold));
  const bool val_is_missing = fraction > 0 && writers.val_is_empty();
  if (!writers.train_is_empty() && !val_is_missing) return writers;
  TRAINYARD_ASSIGN_OR_RETURN(const uint64_t repaired, RepairedThreshold(writers, fraction));
  for (const char* name : {"/train.bin", "/val.bin"}) std::remove((directory + name).c_str());
  return WriteSplits(job, tokenizer, directory, repaired);
}

absl::Status WriteTokenizer(const Tokenizer& tokenizer, const std::string& directory) {
  nlohmann::ordered_json description = {{"kind", tokenizer.kind()},
                                        {"vocab_size", tokenizer.vocab_size()}};
  if (!tokenizer.model().empty()) {
    description["model"] = "tokenizer.model";
    TRAINYARD_RETURN_IF_ERROR(WriteWholeFile(directory + "/tokenizer.model", tokenizer.model()));
  }
  return WriteWholeFile(directory + "/tokenizer.json", description.dump(2) + "\n");
}

int ThreadsOf(int jobs) {
  return jobs > 0 ? jobs : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace

absl::StatusOr<DataSummary> PrepareData(const PrepareOptions& options, Progress* progress,
                                        const std::atomic<bool>& cancelled) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<OutputDirectory> output,
                             OutputDirectory::Create(options.out, options.force));
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<InputFile> files, FindInputFiles(options.inputs));
  int64_t bytes = 0;
  for (const InputFile& file : files) bytes += file.bytes;
  PodTexts pods;
  const Job job = {options,  std::move(files), bytes, ThreadsOf(options.jobs),
                   progress, cancelled,        pods};
  progress->PrintLine("reading " + ReadableCount(static_cast<int64_t>(job.files.size())) +
                      " files, " + ReadableBytes(bytes));

  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<Tokenizer> tokenizer,
                             MakeTokenizer(job, ThresholdOf(options.val_fraction)));
  TRAINYARD_ASSIGN_OR_RETURN(SplitWriters writers,
                             WriteNonEmptySplits(job, *tokenizer, output->path()));
  DataSummary summary;
  summary.directory = output->target();
  summary.files = static_cast<int64_t>(job.files.size());
  summary.tokenizer = tokenizer->kind();
  summary.vocab_size = tokenizer->vocab_size();
  TRAINYARD_RETURN_IF_ERROR(writers.Finish(&summary.train, &summary.val));
  TRAINYARD_RETURN_IF_ERROR(WriteTokenizer(*tokenizer, output->path()));
  if (cancelled) return absl::CancelledError("interrupted; nothing was kept");
  TRAINYARD_RETURN_IF_ERROR(output->Publish());
  return summary;
}

std::string SummaryText(const DataSummary& summary) {
  const int64_t tokens = summary.train.tokens + summary.val.tokens;
  const int64_t bytes = summary.train.source_bytes + summary.val.source_bytes;
  char ratios[160];
  std::snprintf(ratios, sizeof(ratios),
                "bytes/token  %.2f\n"
                "entropy      %.3f nats/token: the loss of a unigram model\n",
                static_cast<double>(bytes) / static_cast<double>(std::max<int64_t>(tokens, 1)),
                summary.train.unigram_entropy);
  return "data set     " + summary.directory + "\n" +                                      //
         "documents    " + ReadableCount(summary.train.documents) + " train, " +           //
         ReadableCount(summary.val.documents) + " val, from " +                            //
         ReadableCount(summary.files) + " files\n" +                                       //
         "text         " + ReadableBytes(bytes) + "\n" +                                   //
         "tokens       " + ReadableCount(summary.train.tokens) + " train, " +              //
         ReadableCount(summary.val.tokens) + " val\n" +                                    //
         "tokenizer    " + summary.tokenizer + ", " + ReadableCount(summary.vocab_size) +  //
         " token ids\n" + ratios +                                                         //
         "next         trainyard submit JOB.yaml --set data.path=" + summary.directory +   //
         " --set model.vocab_size=" + std::to_string(summary.vocab_size) + "\n";
}

}  // namespace trainyard::data
