// Groups the records of a scratch file by their band keys.
#ifndef TRAINYARD_DATA_DEDUP_KEY_GROUPS_H_
#define TRAINYARD_DATA_DEDUP_KEY_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "data/dedup/document_signer.h"
#include "data/dedup/spill_file.h"

namespace trainyard::data {

struct KeyRecord {
  BandKey key;
  uint64_t document = 0;

  friend auto operator<=>(const KeyRecord&, const KeyRecord&) = default;
};
static_assert(sizeof(KeyRecord) == 24);

// Returns, for each key that at least two records have, the number of its documents and then the
// documents in ascending order. Ordered by key. `file` contains KeyRecords and is read twice, so
// that only the records of repeated keys are sorted. Returns ResourceExhausted if they need more
// than `memory_bytes`. Thread-safe.
absl::StatusOr<std::vector<uint64_t>> GroupKeys(const SpillFile& file, size_t memory_bytes);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DEDUP_KEY_GROUPS_H_
