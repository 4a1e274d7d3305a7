#include "data/dedup/document_signer.h"

#include <algorithm>
#include <cstddef>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "data/dedup/sha1.h"

namespace trainyard::data {
namespace {

constexpr size_t kKeptBytes = size_t{1} << 20;

BandKey KeyOf(const void* bytes, size_t size, uint64_t seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes, size, seed);
  return {hash.high64, hash.low64};
}

// Releases the memory of an unusually long document.
template <typename Container>
void Shrink(Container* container) {
  const size_t item = sizeof(typename Container::value_type);
  if (container->capacity() * item > kKeptBytes) Container().swap(*container);
}

}  // namespace

std::vector<BandKey> BandKeysOf(const Signature& signature, int bands, int rows) {
  std::vector<BandKey> keys(static_cast<size_t>(bands));
  const size_t width = static_cast<size_t>(rows);
  for (size_t band = 0; band < keys.size(); ++band) {
    keys[band] = KeyOf(&signature[band * width], width * sizeof(uint32_t), band);
  }
  return keys;
}

DocumentSigner::DocumentSigner(const DedupSettings& settings) : settings_(settings) {
  if (settings.kind == ShingleKind::kGuideWords) guide_.emplace();
}

SignedDocument DocumentSigner::Sign(std::string_view text) {
  SignedDocument document;
  if (settings_.kind == ShingleKind::kWholeText) {
    document.keys = {WholeTextKey(text)};
    return document;
  }
  if (guide_) {
    document.signature = GuideSignature(text);
  } else {
    HashText(text);
    document.signature = MinHashesOf(shingles_);
  }
  document.keys = BandKeysOf(document.signature, settings_.bands, settings_.rows);
  Shrink(&word_);
  Shrink(&joined_.text);
  Shrink(&joined_.begins);
  Shrink(&elements_);
  Shrink(&shingles_);
  return document;
}

std::vector<uint32_t> DocumentSigner::ShinglesOf(std::string_view text) {
  HashText(text);
  std::sort(shingles_.begin(), shingles_.end());
  const auto end = std::unique(shingles_.begin(), shingles_.end());
  return {shingles_.begin(), end};
}

void DocumentSigner::HashText(std::string_view text) {
  if (settings_.kind == ShingleKind::kWords) {
    HashWords(text, &word_, &elements_);
  } else {
    HashCharacters(text, &elements_);
  }
  if (elements_.empty()) elements_.push_back(XXH3_64bits(text.data(), text.size()));
  HashShingles(elements_, settings_.shingle_length, &shingles_);
}

Signature DocumentSigner::GuideSignature(std::string_view text) {
  JoinWords(text, &joined_);
  const size_t words = joined_.begins.empty() ? 0 : joined_.begins.size() - 1;
  const size_t length = static_cast<size_t>(settings_.shingle_length);
  shingles_.clear();
  if (words <= length) {
    shingles_.push_back(Sha1Prefix(words == 0 ? text : std::string_view(joined_.text)));
    return guide_->Of(shingles_);
  }
  for (size_t first = 0; first + length <= words; ++first) {
    const size_t begin = joined_.begins[first];
    // The space behind the last word is not part of the shingle.
    const size_t end = joined_.begins[first + length] - 1;
    shingles_.push_back(Sha1Prefix(std::string_view(joined_.text).substr(begin, end - begin)));
  }
  return guide_->Of(shingles_);
}

BandKey DocumentSigner::WholeTextKey(std::string_view text) {
  JoinWords(text, &joined_);
  if (joined_.begins.empty()) return KeyOf(text.data(), text.size(), 1);
  const BandKey key = KeyOf(joined_.text.data(), joined_.text.size(), 0);
  Shrink(&joined_.text);
  Shrink(&joined_.begins);
  return key;
}

}  // namespace trainyard::data
