// The signatures of a block, in a part of data/stages.
#ifndef TRAINYARD_DATA_DEDUP_SIGNATURE_PART_H_
#define TRAINYARD_DATA_DEDUP_SIGNATURE_PART_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "data/dedup/document_signer.h"
#include "data/dedup/document_store.h"
#include "data/stages/binary_part.h"

namespace trainyard::data {

// Appends a document, in the order of the block. Needs 8 bytes, 16 per key and 256 for the low 16
// bits of the min-hashes.
absl::Status AppendSignature(const StoredDocument& document, const std::vector<BandKey>& keys,
                             BinaryPartWriter* part);

// The signature contains the low 16 bits of the min-hashes, which DocumentStore keeps.
using TakeSignature =
    std::function<absl::Status(const StoredDocument& document, const std::vector<BandKey>& keys)>;
// Passes the documents to `take`, in order. Returns DataLoss for a damaged part.
absl::Status ReadSignatures(const std::string& directory, const PartFile& part,
                            const TakeSignature& take);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DEDUP_SIGNATURE_PART_H_
