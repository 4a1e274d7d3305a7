// The places, signatures and shingles of documents, in scratch files.
#ifndef TRAINYARD_DATA_DEDUP_DOCUMENT_STORE_H_
#define TRAINYARD_DATA_DEDUP_DOCUMENT_STORE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "data/dedup/decide.h"
#include "data/dedup/dedup_settings.h"
#include "data/dedup/document_numbers.h"
#include "data/dedup/min_hash.h"
#include "data/dedup/spill_file.h"

namespace trainyard::data {

struct StoredDocument {
  uint32_t file = 0;  // in its plan
  uint32_t line = 0;  // counted from 0 at the start of the block
  Signature signature{};
};

// Keeps the low 16 bits of each min-hash, which makes two different min-hashes equal with a
// probability of 2^-16. Needs 272 bytes per document, 16 for ShingleKind::kWholeText.
class DocumentStore {
 public:
  static constexpr size_t kChunk = 256;

  static absl::StatusOr<std::unique_ptr<DocumentStore>> Create(const std::string& path,
                                                               const DedupSettings& settings);

  // Adds the next documents of a block. All chunks of a block but the last have kChunk documents.
  // Chunks of different blocks can be added in any order. Not thread-safe.
  absl::Status Add(size_t block, const std::vector<StoredDocument>& chunk);
  // Call after the last chunk and before the functions below.
  absl::Status Finish(DocumentNumbers numbers);

  const DocumentNumbers& numbers() const { return numbers_; }
  // Returns the document without its signature.
  absl::StatusOr<StoredDocument> PlaceOf(uint64_t document) const;
  // Returns the similarity that the signatures have; 1 for kWholeText.
  absl::StatusOr<double> Estimate(uint64_t a, uint64_t b) const;

 private:
  struct Record {
    uint32_t file = 0;
    uint32_t line = 0;
    uint16_t min_hashes[kMinHashes] = {};
  };

  DocumentStore(std::unique_ptr<PieceFile> file, bool has_signatures)
      : file_(std::move(file)), has_signatures_(has_signatures), numbers_({}) {}
  absl::StatusOr<Record> Read(uint64_t document) const;
  size_t record_bytes() const { return has_signatures_ ? sizeof(Record) : 2 * sizeof(uint32_t); }

  const std::unique_ptr<PieceFile> file_;
  const bool has_signatures_;
  DocumentNumbers numbers_;
  std::vector<std::vector<uint64_t>> chunks_;  // by block: positions in the file
};

// The sets of shingle hashes of some documents.
class ShingleStore {
 public:
  static absl::StatusOr<std::unique_ptr<ShingleStore>> Create(const std::string& path);

  // `shingles` must be sorted. Documents can be added in any order. Not thread-safe.
  absl::Status Add(uint64_t document, const std::vector<uint32_t>& shingles);
  // Call after the last document.
  absl::Status Finish();

  // `document` must have been added.
  absl::StatusOr<std::vector<uint32_t>> ShinglesOf(uint64_t document) const;

 private:
  struct Entry {
    uint64_t document = 0;
    uint64_t position = 0;
    size_t bytes = 0;
  };

  explicit ShingleStore(std::unique_ptr<PieceFile> file) : file_(std::move(file)) {}

  const std::unique_ptr<PieceFile> file_;
  std::vector<Entry> entries_;
};

// All candidates are duplicates.
class UnverifiedTest : public PairTest {
 public:
  explicit UnverifiedTest(const DocumentStore& store) : store_(store) {}
  absl::StatusOr<std::optional<double>> Compare(uint64_t a, uint64_t b) override;
  absl::StatusOr<double> Estimate(uint64_t a, uint64_t b) override;

 private:
  const DocumentStore& store_;
};

// Candidates are duplicates if their similarity is at least the threshold. Computes the similarity
// from the sets of shingles if the estimate is within three standard errors of the threshold.
class VerifyingTest : public PairTest {
 public:
  // `shingles` must contain all documents that are compared.
  VerifyingTest(const DocumentStore& store, const ShingleStore& shingles, double threshold)
      : store_(store), shingles_(shingles), threshold_(threshold) {}
  absl::StatusOr<std::optional<double>> Compare(uint64_t a, uint64_t b) override;
  absl::StatusOr<double> Estimate(uint64_t a, uint64_t b) override;

 private:
  const DocumentStore& store_;
  const ShingleStore& shingles_;
  const double threshold_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DEDUP_DOCUMENT_STORE_H_
