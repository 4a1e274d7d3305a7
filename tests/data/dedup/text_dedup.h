// Runs the steps of duplicate removal on texts in memory.
#ifndef TRAINYARD_TESTS_DATA_DEDUP_TEXT_DEDUP_H_
#define TRAINYARD_TESTS_DATA_DEDUP_TEXT_DEDUP_H_

#include <memory>
#include <string>
#include <vector>

#include "data/dedup/buckets.h"
#include "data/dedup/decide.h"
#include "data/dedup/document_signer.h"
#include "data/dedup/document_store.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::data {

// Sorts the keys of documents that are all in block 0.
inline absl::StatusOr<BucketMembers> SortKeys(const TemporaryDirectory& directory,
                                              const std::vector<std::vector<BandKey>>& keys,
                                              const BucketLimits& limits = {}) {
  BucketSorter sorter(directory.path(), limits);
  // The order of the calls must not matter.
  for (size_t i = keys.size(); i-- > 0;) {
    const absl::Status added = sorter.Add(i, keys[i]);
    if (!added.ok()) return added;
  }
  return sorter.Finish(DocumentNumbers({static_cast<uint32_t>(keys.size())}));
}

inline absl::StatusOr<Decisions> Deduplicate(const std::vector<std::string>& texts,
                                             const DedupSettings& settings,
                                             uint64_t first_new = 0) {
  const TemporaryDirectory directory;
  const auto store = *DocumentStore::Create(directory.File("documents"), settings);
  const auto shingles = *ShingleStore::Create(directory.File("shingles"));
  DocumentSigner signer(settings);
  std::vector<std::vector<BandKey>> keys;
  std::vector<StoredDocument> chunk;
  for (const std::string& text : texts) {
    SignedDocument document = signer.Sign(text);
    chunk.push_back({0, static_cast<uint32_t>(keys.size()), document.signature});
    if (settings.verify) (void)shingles->Add(keys.size(), signer.ShinglesOf(text));
    keys.push_back(std::move(document.keys));
    if (chunk.size() < DocumentStore::kChunk && keys.size() < texts.size()) continue;
    (void)store->Add(0, chunk);
    chunk.clear();
  }
  (void)store->Finish(DocumentNumbers({static_cast<uint32_t>(keys.size())}));
  (void)shingles->Finish();
  absl::StatusOr<BucketMembers> members = SortKeys(directory, keys);
  if (!members.ok()) return members.status();
  std::unique_ptr<PairTest> test;
  if (settings.verify) {
    test = std::make_unique<VerifyingTest>(*store, *shingles, settings.threshold);
  } else {
    test = std::make_unique<UnverifiedTest>(*store);
  }
  return settings.components ? DecideByComponents(*members, first_new, test.get())
                             : DecideGreedily(*members, first_new, test.get());
}

inline std::vector<uint64_t> DroppedNumbers(const Decisions& decisions) {
  std::vector<uint64_t> numbers;
  for (const DroppedDocument& dropped : decisions.dropped) numbers.push_back(dropped.document);
  return numbers;
}

}  // namespace trainyard::data

#endif  // TRAINYARD_TESTS_DATA_DEDUP_TEXT_DEDUP_H_
