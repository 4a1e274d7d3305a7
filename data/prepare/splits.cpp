#include "data/prepare/splits.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "data/prepare/block_pass.h"
#include "data/prepare/split_hash.h"
#include "data/tokens/token_packer.h"
#include "proto/contract/token_format.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// A longer list of tokens is freed after its part, so that each thread does not keep the memory of
// its longest document.
constexpr size_t kKeptTokens = size_t{4} << 20;

struct EncodedPart {
  bool validates = false;
  bool ends_document = false;
  bool has_special_text = false;
  uint64_t hash = 0;
  int64_t source_bytes = 0;
  size_t packed_bytes = 0;
};

struct EncodedBlock {
  std::vector<EncodedPart> parts;
  std::string packed;  // tokens of all parts
};

// Memory of one thread.
struct ThreadState {
  explicit ThreadState(int64_t vocab_size) : train(vocab_size), val(vocab_size) {}

  std::vector<uint32_t> tokens;  // of the current part
  TokenPacker train;
  TokenPacker val;
};

// The parts of a pass that go to the validation split.
struct Validation {
  bool is_all = false;
  uint64_t threshold = 0;  // parts with a smaller hash
};

// The smallest and largest hash of all parts. If a split is empty, they determine a new threshold.
struct HashRange {
  uint64_t smallest = std::numeric_limits<uint64_t>::max();
  uint64_t largest = 0;
  int64_t parts = 0;
};

void Encode(const TextPart& part, const Tokenizer& tokenizer, const Validation& validation,
            ThreadState* thread, EncodedBlock* block) {
  EncodedPart encoded;
  encoded.hash = HashOf(part.text);
  encoded.validates = validation.is_all || encoded.hash < validation.threshold;
  encoded.ends_document = part.ends_document;
  encoded.has_special_text = tokenizer.HasSpecialText(part.text);
  encoded.source_bytes = static_cast<int64_t>(part.text.size());
  thread->tokens.clear();
  if (part.begins_document) {
    tokenizer.Encode(part.text, &thread->tokens);
  } else {
    tokenizer.EncodeAfterCut(part.text, &thread->tokens);
  }
  const size_t before = block->packed.size();
  (encoded.validates ? thread->val : thread->train).Pack(thread->tokens, &block->packed);
  encoded.packed_bytes = block->packed.size() - before;
  block->parts.push_back(encoded);
  if (thread->tokens.capacity() > kKeptTokens) thread->tokens = std::vector<uint32_t>();
}

// The writers of both splits. Consecutive parts of a document stay one document if they go to the
// same split.
class SplitWriters {
 public:
  static absl::StatusOr<SplitWriters> Create(const std::string& directory,
                                             const Tokenizer& tokenizer, OutputFormat format) {
    SplitWriters writers;
    TRAINYARD_ASSIGN_OR_RETURN(
        writers.train_,
        TokenWriter::Create(directory, token_format::kTrainSplit, tokenizer, format));
    TRAINYARD_ASSIGN_OR_RETURN(
        writers.val_,
        TokenWriter::Create(directory, token_format::kValidationSplit, tokenizer, format));
    return writers;
  }

  // `packed`: the tokens of the part.
  absl::Status Append(const EncodedPart& part, std::string_view packed) {
    TokenWriter* writer = part.validates ? val_.get() : train_.get();
    if (part.source_bytes > 0) {
      if (open_ != writer) {
        TRAINYARD_RETURN_IF_ERROR(EndDocument());
        writer->BeginDocument();
      }
      open_ = writer;
      if (part.has_special_text) has_special_text_ = true;
      TRAINYARD_RETURN_IF_ERROR(writer->Append(packed, part.source_bytes));
      hashes_.smallest = std::min(hashes_.smallest, part.hash);
      hashes_.largest = std::max(hashes_.largest, part.hash);
      ++hashes_.parts;
    }
    if (!part.ends_document) return absl::OkStatus();
    if (std::exchange(has_special_text_, false)) ++special_documents_;
    return EndDocument();
  }

  void AddCounts(const ThreadState& thread) {
    train_->AddCounts(thread.train.counts());
    val_->AddCounts(thread.val.counts());
  }

  absl::Status Finish(SplitTotals* train, SplitTotals* val) {
    TRAINYARD_ASSIGN_OR_RETURN(*train, train_->Finish());
    TRAINYARD_ASSIGN_OR_RETURN(*val, val_->Finish());
    return absl::OkStatus();
  }

  const HashRange& hashes() const { return hashes_; }
  int64_t special_documents() const { return special_documents_; }
  bool train_is_empty() const { return train_->tokens() == 0; }
  bool val_is_empty() const { return val_->tokens() == 0; }

 private:
  absl::Status EndDocument() {
    TokenWriter* ended = std::exchange(open_, nullptr);
    return ended == nullptr ? absl::OkStatus() : ended->EndDocument();
  }

  std::unique_ptr<TokenWriter> train_;
  std::unique_ptr<TokenWriter> val_;
  TokenWriter* open_ = nullptr;    // the writer with an unfinished document, if any
  bool has_special_text_ = false;  // of the document that is being read
  int64_t special_documents_ = 0;
  HashRange hashes_;
};

absl::Status AppendBlock(const EncodedBlock& block, SplitWriters* writers) {
  std::string_view packed = block.packed;
  for (const EncodedPart& part : block.parts) {
    TRAINYARD_RETURN_IF_ERROR(writers->Append(part, packed.substr(0, part.packed_bytes)));
    packed.remove_prefix(part.packed_bytes);
  }
  return absl::OkStatus();
}

absl::Status TokenizeAll(const Job& job, const Tokenizer& tokenizer, const Validation& validation,
                         SplitWriters* writers, BadLineLog* log) {
  std::vector<ThreadState> threads(static_cast<size_t>(job.threads),
                                   ThreadState(tokenizer.vocab_size()));
  job.progress->Start(validation.is_all ? "tokenizing for validation" : "tokenizing", job.bytes);
  TRAINYARD_RETURN_IF_ERROR(ForEachPart<EncodedBlock>(
      job, CutsOf(tokenizer), log,
      [&](int thread, const TextPart& part, EncodedBlock* block) {
        Encode(part, tokenizer, validation, &threads[static_cast<size_t>(thread)], block);
      },
      [&](const EncodedBlock& block) { return AppendBlock(block, writers); }));
  for (const ThreadState& thread : threads) writers->AddCounts(thread);
  job.progress->Stop();
  return absl::OkStatus();
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

// Removes the files of a first attempt.
void RemoveFiles(const std::string& directory) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    std::filesystem::remove(entry.path(), error);
  }
}

absl::Status HoldOutFraction(const Job& job, const Tokenizer& tokenizer, double fraction,
                             OutputFormat format, const std::string& directory,
                             SplitWriters* writers, BadLineLog* lines) {
  TRAINYARD_RETURN_IF_ERROR(
      TokenizeAll(job, tokenizer, {false, ThresholdOf(fraction)}, writers, lines));
  const bool val_is_missing = fraction > 0 && writers->val_is_empty();
  if (!writers->train_is_empty() && !val_is_missing) return absl::OkStatus();
  TRAINYARD_ASSIGN_OR_RETURN(const uint64_t repaired, RepairedThreshold(*writers, fraction));
  RemoveFiles(directory);
  TRAINYARD_ASSIGN_OR_RETURN(*writers, SplitWriters::Create(directory, tokenizer, format));
  BadLineLog same_lines(job.bad_line_policy());
  return TokenizeAll(job, tokenizer, {false, repaired}, writers, &same_lines);
}

absl::Status ValidateOnFiles(const Job& train, const Job& val, const Tokenizer& tokenizer,
                             SplitWriters* writers, BadLineLog* lines) {
  TRAINYARD_RETURN_IF_ERROR(TokenizeAll(train, tokenizer, {false, 0}, writers, lines));
  if (writers->train_is_empty()) return absl::DataLossError("the inputs contain no text");
  TRAINYARD_RETURN_IF_ERROR(TokenizeAll(val, tokenizer, {true, 0}, writers, lines));
  if (!writers->val_is_empty()) return absl::OkStatus();
  return absl::DataLossError("the files of --val contain no text; name other files");
}

}  // namespace

absl::StatusOr<SplitsResult> WriteSplits(const SplitJobs& jobs, const Tokenizer& tokenizer,
                                         double val_fraction, OutputFormat format,
                                         const std::string& directory) {
  SplitsResult result = {{}, {}, BadLineLog(jobs.train.bad_line_policy())};
  TRAINYARD_ASSIGN_OR_RETURN(SplitWriters writers,
                             SplitWriters::Create(directory, tokenizer, format));
  if (jobs.val) {
    TRAINYARD_RETURN_IF_ERROR(
        ValidateOnFiles(jobs.train, *jobs.val, tokenizer, &writers, &result.lines));
  } else {
    TRAINYARD_RETURN_IF_ERROR(HoldOutFraction(jobs.train, tokenizer, val_fraction, format,
                                              directory, &writers, &result.lines));
  }
  result.special_documents = writers.special_documents();
  TRAINYARD_RETURN_IF_ERROR(writers.Finish(&result.train, &result.val));
  return result;
}

}  // namespace trainyard::data
