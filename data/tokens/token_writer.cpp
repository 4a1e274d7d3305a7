#include "data/tokens/token_writer.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "data/tokens/make_token_sink.h"
#include "data/tokens/output_file.h"
#include "proto/contract/token_format.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

}  // namespace

absl::StatusOr<std::unique_ptr<TokenWriter>> TokenWriter::Create(const std::string& directory,
                                                                 const std::string& split,
                                                                 const Tokenizer& tokenizer,
                                                                 OutputFormat format) {
  TRAINYARD_ASSIGN_OR_RETURN(std::unique_ptr<TokenSink> sink,
                             MakeTokenSink(format, directory, split, tokenizer));
  TRAINYARD_ASSIGN_OR_RETURN(std::unique_ptr<SourceWriter> sources,
                             SourceWriter::Create(directory, split));
  return std::unique_ptr<TokenWriter>(new TokenWriter(
      directory + "/" + split, {std::move(sink), std::move(sources)}, tokenizer, format));
}

TokenWriter::TokenWriter(std::string stem, Files files, const Tokenizer& tokenizer,
                         OutputFormat format)
    : stem_(std::move(stem)),
      format_(format),
      files_(std::move(files)),
      vocab_size_(tokenizer.vocab_size()),
      marks_(MarksOf(format, tokenizer)),
      bytes_per_token_(BytesPerToken(vocab_size_)),
      document_packer_(vocab_size_),
      counts_(static_cast<size_t>(vocab_size_), 0) {}

absl::Status TokenWriter::Append(std::string_view packed, int64_t source_bytes) {
  totals_.tokens += static_cast<int64_t>(packed.size()) / bytes_per_token_;
  totals_.source_bytes += source_bytes;
  if (buffer_.size() + packed.size() < kBufferBytes) {
    buffer_ += packed;
    return absl::OkStatus();
  }
  TRAINYARD_RETURN_IF_ERROR(Flush());
  return files_.tokens->Write(packed);
}

void TokenWriter::BeginDocument(const SourcePlace& place) {
  document_first_token_ = totals_.tokens;
  document_place_ = place;
  if (!marks_.before) return;
  ++totals_.tokens;
  document_packer_.Pack({*marks_.before}, &buffer_);
}

absl::Status TokenWriter::EndDocument() {
  ++totals_.documents;
  if (marks_.after) {
    ++totals_.tokens;
    document_packer_.Pack({*marks_.after}, &buffer_);
  }
  const int64_t tokens = totals_.tokens - std::exchange(document_first_token_, totals_.tokens);
  TRAINYARD_RETURN_IF_ERROR(files_.sources->Add(document_place_, tokens));
  return files_.tokens->EndDocument(tokens);
}

void TokenWriter::AddCounts(const std::vector<int64_t>& counts) {
  for (size_t id = 0; id < counts_.size(); ++id) counts_[id] += counts[id];
}

absl::Status TokenWriter::Flush() {
  const absl::Status status = files_.tokens->Write(buffer_);
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

absl::Status TokenWriter::WriteHeader() const {
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
      {format::kEndOfDocument, *marks_.after}};
  if (marks_.before) header[format::kBeginOfDocument] = *marks_.before;
  header[format::kChecksum] = totals_.files.front().xxh64;
  const TokenFileFacts& sources = totals_.files.back();
  header[format::kSources] = {{format::kBytes, sources.bytes}, {format::kChecksum, sources.xxh64}};
  return WriteWholeFile(stem_ + ".json", header.dump(2) + "\n");
}

absl::StatusOr<SplitTotals> TokenWriter::Finish() {
  AddCounts(document_packer_.counts());
  TRAINYARD_RETURN_IF_ERROR(Flush());
  TRAINYARD_ASSIGN_OR_RETURN(totals_.files, files_.tokens->Finish());
  TRAINYARD_ASSIGN_OR_RETURN(TokenFileFacts sources, files_.sources->Finish());
  totals_.files.push_back(std::move(sources));
  totals_.unigram_entropy = Entropy();
  if (format_ == OutputFormat::kTrainyard) TRAINYARD_RETURN_IF_ERROR(WriteHeader());
  return totals_;
}

}  // namespace trainyard::data
