// Computes the shingles, the signature and the band keys of a document.
#ifndef TRAINYARD_DATA_DEDUP_DOCUMENT_SIGNER_H_
#define TRAINYARD_DATA_DEDUP_DOCUMENT_SIGNER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/dedup/dedup_settings.h"
#include "data/dedup/guide_hash.h"
#include "data/dedup/min_hash.h"
#include "data/dedup/text_elements.h"

namespace trainyard::data {

// Two documents with a key in common are candidates. Keys of different bands differ.
struct BandKey {
  uint64_t high = 0;
  uint64_t low = 0;

  friend auto operator<=>(const BandKey&, const BandKey&) = default;
};

struct SignedDocument {
  Signature signature{};  // unused for kWholeText
  std::vector<BandKey> keys;
};

// Not thread-safe: each thread has its own signer.
class DocumentSigner {
 public:
  explicit DocumentSigner(const DedupSettings& settings);

  // `text` must be valid UTF-8. A document with fewer words than a shingle has one shingle of all
  // its words. The shingle of a document without words is its text.
  SignedDocument Sign(std::string_view text);

  // Returns the sorted set of shingle hashes. For kWords and kCharacters.
  std::vector<uint32_t> ShinglesOf(std::string_view text);

 private:
  void HashText(std::string_view text);  // sets shingles_
  Signature GuideSignature(std::string_view text);
  BandKey WholeTextKey(std::string_view text);

  const DedupSettings settings_;
  std::optional<GuideMinHash> guide_;
  // Memory that is reused for each document.
  std::string word_;
  JoinedWords joined_;
  std::vector<uint64_t> elements_;
  std::vector<uint32_t> shingles_;
};

// Returns a key per band of a signature.
std::vector<BandKey> BandKeysOf(const Signature& signature, int bands, int rows);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DEDUP_DOCUMENT_SIGNER_H_
