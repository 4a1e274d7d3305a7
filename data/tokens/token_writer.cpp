#include "data/tokens/token_writer.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "proto/contract/token_format.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

absl::Status CannotWrite(const std::string& path, int error) {
  const std::string message = "cannot write " + path + ": " + std::strerror(error);
  if (error != ENOSPC && error != EDQUOT) return absl::InternalError(message);
  return absl::ResourceExhaustedError(message +
                                      "; free disk space, or choose another directory with --out");
}

}  // namespace

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Create(const std::string& path) {
  auto file = std::unique_ptr<OutputFile>(new OutputFile(path));
  TRAINYARD_RETURN_IF_ERROR(file->ToStatus(file->file_.CreateNew(path, {.mode = 0644})));
  return file;
}

absl::Status OutputFile::ToStatus(const FileResult& result) const {
  return result.has_value() ? CannotWrite(path_, result->number) : absl::OkStatus();
}

absl::Status OutputFile::Write(std::string_view bytes) { return ToStatus(file_.Append(bytes)); }

absl::Status OutputFile::Close() { return ToStatus(file_.Finish()); }

absl::Status WriteWholeFile(const std::string& path, std::string_view text) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file, OutputFile::Create(path));
  TRAINYARD_RETURN_IF_ERROR(file->Write(text));
  return file->Close();
}

struct TokenWriter::Hash {
  Hash() { XXH64_reset(&state, 0); }
  XXH64_state_t state;
};

absl::StatusOr<std::unique_ptr<TokenWriter>> TokenWriter::Create(const std::string& directory,
                                                                 const std::string& split,
                                                                 const Tokenizer& tokenizer) {
  const std::string stem = directory + "/" + split;
  TRAINYARD_ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file, OutputFile::Create(stem + ".bin"));
  return std::unique_ptr<TokenWriter>(new TokenWriter(stem, std::move(file), tokenizer));
}

TokenWriter::TokenWriter(std::string stem, std::unique_ptr<OutputFile> file,
                         const Tokenizer& tokenizer)
    : stem_(std::move(stem)),
      file_(std::move(file)),
      vocab_size_(tokenizer.vocab_size()),
      begin_of_document_(tokenizer.begins_documents() ? tokenizer.begin_of_document()
                                                      : std::nullopt),
      end_of_document_(tokenizer.end_of_document()),
      bytes_per_token_(BytesPerToken(vocab_size_)),
      hash_(std::make_unique<Hash>()),
      document_packer_(vocab_size_),
      counts_(static_cast<size_t>(vocab_size_), 0) {}

TokenWriter::~TokenWriter() = default;

absl::Status TokenWriter::Append(std::string_view packed, int64_t source_bytes) {
  totals_.tokens += static_cast<int64_t>(packed.size()) / bytes_per_token_;
  totals_.source_bytes += source_bytes;
  if (buffer_.size() + packed.size() < kBufferBytes) {
    buffer_ += packed;
    return absl::OkStatus();
  }
  TRAINYARD_RETURN_IF_ERROR(Flush());
  return WriteOut(packed);
}

void TokenWriter::BeginDocument() {
  if (!begin_of_document_) return;
  ++totals_.tokens;
  document_packer_.Pack({*begin_of_document_}, &buffer_);
}

absl::Status TokenWriter::EndDocument() {
  ++totals_.documents;
  ++totals_.tokens;
  document_packer_.Pack({end_of_document_}, &buffer_);
  return absl::OkStatus();
}

void TokenWriter::AddCounts(const std::vector<int64_t>& counts) {
  for (size_t id = 0; id < counts_.size(); ++id) counts_[id] += counts[id];
}

absl::Status TokenWriter::WriteOut(std::string_view packed) {
  XXH64_update(&hash_->state, packed.data(), packed.size());
  return file_->Write(packed);
}

absl::Status TokenWriter::Flush() {
  const absl::Status status = WriteOut(buffer_);
  buffer_.clear();
  return status;
}

double TokenWriter::Entropy() const {
  double entropy = 0;
  const double all = static_cast<double>(totals_.tokens);
  for (const int64_t count : counts_) {
    if (count == 0) continue;
    const double share = static_cast<double>(count) / all;
    entropy -= share * std::log(share);
  }
  return entropy;
}

absl::StatusOr<SplitTotals> TokenWriter::Finish() {
  AddCounts(document_packer_.counts());
  TRAINYARD_RETURN_IF_ERROR(Flush());
  TRAINYARD_RETURN_IF_ERROR(file_->Close());
  totals_.unigram_entropy = Entropy();
  char digest[17];
  std::snprintf(digest, sizeof(digest), "%016llx",
                static_cast<unsigned long long>(XXH64_digest(&hash_->state)));
  namespace format = token_format;
  nlohmann::ordered_json header = {
      {format::kFormatKey, format::kFormat},
      {format::kVersionKey, format::kVersion},
      {format::kTypeKey, bytes_per_token_ == 2 ? format::kTwoBytes : format::kFourBytes},
      {format::kTokens, totals_.tokens},
      {format::kVocabSize, vocab_size_},
      {format::kDocuments, totals_.documents},
      {format::kSourceBytes, totals_.source_bytes},
      {format::kUnigramEntropy, totals_.unigram_entropy},
      {format::kEndOfDocument, end_of_document_}};
  if (begin_of_document_) header[format::kBeginOfDocument] = *begin_of_document_;
  header[format::kChecksum] = digest;
  TRAINYARD_RETURN_IF_ERROR(WriteWholeFile(stem_ + ".json", header.dump(2) + "\n"));
  return totals_;
}

}  // namespace trainyard::data
