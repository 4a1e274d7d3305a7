// Passes over all documents of one or two plans.
#ifndef TRAINYARD_DATA_DEDUP_DOCUMENT_PASSES_H_
#define TRAINYARD_DATA_DEDUP_DOCUMENT_PASSES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/dedup/buckets.h"
#include "data/dedup/dedup_settings.h"
#include "data/dedup/document_numbers.h"
#include "data/dedup/document_store.h"
#include "data/documents/bad_lines.h"
#include "data/documents/block_decoder.h"
#include "data/stages/block_documents.h"
#include "data/stages/part_writer.h"
#include "data/stages/plan.h"

namespace trainyard::data {

// A block whose signatures are in a file.
struct SignedBlock {
  std::string directory;
  PartFile part;
  std::vector<FileLines> lines;
};

// The inputs of a run. Blocks are numbered across the plans.
struct DedupInputs {
  std::vector<const Plan*> plans;  // the references, if there are any, and the new documents
  DecodeSettings decode;
  BadLinePolicy bad_lines;
  int threads = 1;
  // Called by any thread with the number of bytes read on disk since the last call. An error ends
  // the pass.
  std::function<absl::Status(int64_t bytes)> advance;
  // The signatures of all blocks, computed by data/dedup/signature_part.h; empty: SignDocuments
  // computes them. A block of several plans has the number of its position in all plans.
  std::vector<SignedBlock> signed_blocks;
  // Does the work of StoreShingles, except Finish, on other processes; empty: this one does it.
  std::function<absl::Status(const DocumentNumbers& numbers, const std::vector<bool>& wanted,
                             ShingleStore* shingles)>
      collect_shingles;
};

struct SignedInputs {
  DocumentNumbers numbers;
  // The number of lines of a block's first file in earlier blocks.
  std::vector<int64_t> first_lines;
};

// Adds all documents to `sorter` and `store`, and calls store->Finish. Returns the errors of
// ReadDocuments and of BadLineLog.
absl::StatusOr<SignedInputs> SignDocuments(const DedupInputs& inputs, const DedupSettings& settings,
                                           BucketSorter* sorter, DocumentStore* store);

// Adds the shingles of the documents whose bit in `wanted` is set, and calls shingles->Finish.
absl::Status StoreShingles(const DedupInputs& inputs, const DedupSettings& settings,
                           const DocumentNumbers& numbers, const std::vector<bool>& wanted,
                           ShingleStore* shingles);

// Returns "FILE:LINE" of a document; "FILE" for plain text and POD.
absl::StatusOr<std::string> PlaceText(const DedupInputs& inputs, const SignedInputs& documents,
                                      const DocumentStore& store, uint64_t document);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DEDUP_DOCUMENT_PASSES_H_
