// Copies all stores of a stopped controller to the other database, and compares the copies.
#ifndef TRAINYARD_CONTROLLER_STORE_TRANSFER_STORE_TRANSFER_H_
#define TRAINYARD_CONTROLLER_STORE_TRANSFER_STORE_TRANSFER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/store/transfer/table_copy.h"
#include "controller/store/transfer/transfer_side.h"

namespace trainyard::controller {

struct CopiedTable {
  std::string name;
  TableDigest digest;
};

// The tables of the target must be empty. Keeps a few MiB in memory, and one snapshot. DATA_LOSS: a
// record of the source is damaged, or the copy differs.
absl::StatusOr<std::vector<CopiedTable>> TransferStores(TransferSide& source, TransferSide& target);

// True if no table has a row, apart from the marks.
absl::StatusOr<bool> HasNoRows(TransferSide& side);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_TRANSFER_STORE_TRANSFER_H_
