#include "data/dedup/document_store.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "proto/support/status_macros.h"

namespace trainyard::data {

absl::StatusOr<std::unique_ptr<DocumentStore>> DocumentStore::Create(
    const std::string& path, const DedupSettings& settings) {
  TRAINYARD_ASSIGN_OR_RETURN(std::unique_ptr<PieceFile> file, PieceFile::Create(path));
  const bool has_signatures = settings.kind != ShingleKind::kWholeText;
  return std::unique_ptr<DocumentStore>(new DocumentStore(std::move(file), has_signatures));
}

absl::Status DocumentStore::Add(size_t block, const std::vector<StoredDocument>& chunk) {
  if (chunks_.size() <= block) chunks_.resize(block + 1);
  chunks_[block].push_back(file_->bytes());
  for (const StoredDocument& document : chunk) {
    Record record;
    record.file = document.file;
    record.line = document.line;
    for (size_t i = 0; i < kMinHashes; ++i) {
      record.min_hashes[i] = static_cast<uint16_t>(document.signature[i]);
    }
    TRAINYARD_RETURN_IF_ERROR(
        file_->Append({reinterpret_cast<const char*>(&record), record_bytes()}));
  }
  return absl::OkStatus();
}

absl::Status DocumentStore::Finish(DocumentNumbers numbers) {
  numbers_ = std::move(numbers);
  return file_->Finish();
}

absl::StatusOr<DocumentStore::Record> DocumentStore::Read(uint64_t document) const {
  const DocumentNumbers::Place place = numbers_.PlaceOf(document);
  const uint64_t stride = record_bytes() + PieceFile::kChecksumBytes;
  const uint64_t position =
      chunks_[place.block][place.index / kChunk] + place.index % kChunk * stride;
  std::string piece;
  TRAINYARD_RETURN_IF_ERROR(file_->ReadAt(position, record_bytes(), &piece));
  Record record;
  std::memcpy(&record, piece.data(), piece.size());
  return record;
}

absl::StatusOr<StoredDocument> DocumentStore::PlaceOf(uint64_t document) const {
  TRAINYARD_ASSIGN_OR_RETURN(const Record record, Read(document));
  return StoredDocument{record.file, record.line, {}};
}

absl::StatusOr<double> DocumentStore::Estimate(uint64_t a, uint64_t b) const {
  if (!has_signatures_) return 1.0;
  TRAINYARD_ASSIGN_OR_RETURN(const Record first, Read(a));
  TRAINYARD_ASSIGN_OR_RETURN(const Record second, Read(b));
  int equal = 0;
  for (size_t i = 0; i < kMinHashes; ++i) {
    equal += first.min_hashes[i] == second.min_hashes[i] ? 1 : 0;
  }
  return static_cast<double>(equal) / kMinHashes;
}

absl::StatusOr<std::unique_ptr<ShingleStore>> ShingleStore::Create(const std::string& path) {
  TRAINYARD_ASSIGN_OR_RETURN(std::unique_ptr<PieceFile> file, PieceFile::Create(path));
  return std::unique_ptr<ShingleStore>(new ShingleStore(std::move(file)));
}

absl::Status ShingleStore::Add(uint64_t document, const std::vector<uint32_t>& shingles) {
  const size_t bytes = shingles.size() * sizeof(uint32_t);
  entries_.push_back({document, file_->bytes(), bytes});
  return file_->Append({reinterpret_cast<const char*>(shingles.data()), bytes});
}

absl::Status ShingleStore::Finish() {
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return a.document < b.document; });
  return file_->Finish();
}

absl::StatusOr<std::vector<uint32_t>> ShingleStore::ShinglesOf(uint64_t document) const {
  const auto entry =
      std::lower_bound(entries_.begin(), entries_.end(), document,
                       [](const Entry& a, uint64_t number) { return a.document < number; });
  std::string piece;
  TRAINYARD_RETURN_IF_ERROR(file_->ReadAt(entry->position, entry->bytes, &piece));
  std::vector<uint32_t> shingles(piece.size() / sizeof(uint32_t));
  std::memcpy(shingles.data(), piece.data(), piece.size());
  return shingles;
}

absl::StatusOr<std::optional<double>> UnverifiedTest::Compare(uint64_t a, uint64_t b) {
  TRAINYARD_ASSIGN_OR_RETURN(const double similarity, store_.Estimate(a, b));
  return similarity;
}

absl::StatusOr<double> UnverifiedTest::Estimate(uint64_t a, uint64_t b) {
  return store_.Estimate(a, b);
}

absl::StatusOr<std::optional<double>> VerifyingTest::Compare(uint64_t a, uint64_t b) {
  TRAINYARD_ASSIGN_OR_RETURN(double similarity, store_.Estimate(a, b));
  // The standard error is 0 at a threshold of 1.
  const double margin = 3 * std::max(StandardError(threshold_), 1.0 / kMinHashes);
  if (std::abs(similarity - threshold_) <= margin) {
    TRAINYARD_ASSIGN_OR_RETURN(const std::vector<uint32_t> first, shingles_.ShinglesOf(a));
    TRAINYARD_ASSIGN_OR_RETURN(const std::vector<uint32_t> second, shingles_.ShinglesOf(b));
    similarity = JaccardSimilarity(first, second);
  }
  return similarity >= threshold_ ? std::optional(similarity) : std::nullopt;
}

absl::StatusOr<double> VerifyingTest::Estimate(uint64_t a, uint64_t b) {
  return store_.Estimate(a, b);
}

}  // namespace trainyard::data
