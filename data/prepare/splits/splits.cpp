#include "data/prepare/splits/splits.h"

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "data/prepare/command/block_pass.h"
#include "data/prepare/splits/split_hash.h"
#include "data/prepare/splits/split_writers.h"
#include "data/tokens/token_packer.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// A longer list of tokens is freed after its part, so that each thread does not keep the memory of
// its longest document.
constexpr size_t kKeptTokens = size_t{4} << 20;

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

void Encode(const TextPart& part, const Tokenizer& tokenizer, const Validation& validation,
            ThreadState* thread, EncodedBlock* block) {
  EncodedPart encoded;
  encoded.hash = HashOf(part.text);
  encoded.validates = validation.is_all || encoded.hash < validation.threshold;
  encoded.ends_document = part.ends_document;
  encoded.has_special_text = tokenizer.HasSpecialText(part.text);
  encoded.source_bytes = static_cast<int64_t>(part.text.size());
  // One of the two is 0.
  encoded.position = part.line + part.offset;
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

absl::Status AppendBlock(const PassedBlock& passed, const EncodedBlock& block,
                         SplitWriters* writers) {
  std::error_code error;
  const std::string path = std::filesystem::absolute(passed.file.path, error).lexically_normal();
  SourcePlace place = {path, HasLines(passed.file.kind), 0};
  std::string_view packed = block.packed;
  for (const EncodedPart& part : block.parts) {
    place.position = part.position + (place.is_line ? passed.first_line : 0);
    TRAINYARD_RETURN_IF_ERROR(writers->Append(part, place, packed.substr(0, part.packed_bytes)));
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
      [&](const PassedBlock& passed, const EncodedBlock& block) {
        return AppendBlock(passed, block, writers);
      }));
  for (const ThreadState& thread : threads) {
    writers->AddCounts(thread.train.counts(), thread.val.counts());
  }
  job.progress->Stop();
  return absl::OkStatus();
}

absl::Status HoldOutFraction(const Job& job, const Tokenizer& tokenizer, double fraction,
                             OutputFormat format, const std::string& directory,
                             SplitWriters* writers, BadLineLog* lines) {
  TRAINYARD_RETURN_IF_ERROR(
      TokenizeAll(job, tokenizer, {false, ThresholdOf(fraction)}, writers, lines));
  if (!writers->NeedsOtherThreshold(fraction)) return absl::OkStatus();
  TRAINYARD_ASSIGN_OR_RETURN(const uint64_t repaired, writers->OtherThreshold(fraction));
  TRAINYARD_ASSIGN_OR_RETURN(*writers, SplitWriters::Restart(directory, tokenizer, format));
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
