// Copies the rows of one table, and hashes them to compare both copies.
#ifndef TRAINYARD_CONTROLLER_STORE_TRANSFER_TABLE_COPY_H_
#define TRAINYARD_CONTROLLER_STORE_TRANSFER_TABLE_COPY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/store/transfer/transfer_side.h"

namespace trainyard::controller {

// A table that has the same columns in both databases.
struct TransferTable {
  StorePart part = StorePart::kEvents;
  std::string name;
  // Separated by ", ". The first `keys` columns are unique together; all of them are integers or
  // text.
  std::string columns;
  // One letter per column: i integer, r real number or NULL, t text, b blob.
  std::string kinds;
  int keys = 1;
  // Limit on the rows in memory.
  int page_rows = 256;
};

// The number of rows and a hash of all their columns, in the order of the keys.
struct TableDigest {
  int64_t rows = 0;
  uint64_t hash = 0;

  friend bool operator==(const TableDigest&, const TableDigest&) = default;
};

// Copies all rows. The table of the target must be empty. Returns the digest of the source.
absl::StatusOr<TableDigest> CopyTable(const TransferTable& table, TransferSide& source,
                                      TransferSide& target);

absl::StatusOr<TableDigest> DigestTable(const TransferTable& table, TransferSide& side);

// Adds one row to the digest.
void AddToDigest(std::string_view row, TableDigest& digest);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_TRANSFER_TABLE_COPY_H_
