// Decides which documents of a run are dropped.
#ifndef TRAINYARD_DATA_DEDUP_DECIDER_H_
#define TRAINYARD_DATA_DEDUP_DECIDER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/dedup/buckets.h"
#include "data/dedup/decide.h"
#include "data/dedup/dedup_settings.h"
#include "data/dedup/document_numbers.h"
#include "data/dedup/document_passes.h"
#include "data/dedup/document_store.h"

namespace trainyard::data {

// Used by one thread: Run, then the other functions.
class Decider {
 public:
  // Called with the name of a step, and the bytes on disk that it reads; 0 if it reads no input.
  using StartStep = std::function<void(const std::string& step, int64_t bytes)>;

  // `scratch`: an existing directory, which receives the scratch files. Half of `memory_bytes` is
  // for the keys of one scratch file.
  Decider(const DedupSettings& settings, int64_t memory_bytes, StartStep start, DedupInputs inputs,
          std::string scratch)
      : settings_(settings),
        memory_bytes_(memory_bytes),
        start_(std::move(start)),
        inputs_(std::move(inputs)),
        scratch_(std::move(scratch)) {}

  // Returns the errors of SignDocuments and BucketSorter.
  absl::Status Run();

  // Number of the first document that is not a reference.
  uint64_t first_new() const { return documents_->numbers.FirstOf(first_new_block()); }
  size_t first_new_block() const {
    return inputs_.plans.size() == 1 ? 0 : inputs_.plans[0]->blocks().size();
  }
  const DocumentNumbers& numbers() const { return documents_->numbers; }
  const Decisions& decisions() const { return decisions_; }
  absl::StatusOr<std::string> PlaceOf(uint64_t document) const {
    return PlaceText(inputs_, *documents_, *store_, document);
  }

 private:
  absl::StatusOr<std::unique_ptr<PairTest>> MakeTest(const BucketMembers& members);

  const DedupSettings settings_;
  const int64_t memory_bytes_;
  const StartStep start_;
  const DedupInputs inputs_;
  const std::string scratch_;
  std::unique_ptr<DocumentStore> store_;
  std::unique_ptr<ShingleStore> shingles_;
  std::optional<SignedInputs> documents_;
  Decisions decisions_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DEDUP_DECIDER_H_
