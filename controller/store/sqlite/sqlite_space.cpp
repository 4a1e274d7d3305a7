#include "controller/store/sqlite/sqlite_space.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace trainyard::controller {
namespace {

constexpr int64_t kKeptFreeBytes = 4 << 20;
constexpr int64_t kReturnedBytes = 2 << 20;
constexpr int64_t kIncremental = 2;  // PRAGMA auto_vacuum.

}  // namespace

absl::StatusOr<StoreUsage> ReadUsage(SqliteDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginRead(database));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t page_bytes, database.QueryInt64("PRAGMA page_size"));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t pages, database.QueryInt64("PRAGMA page_count"));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t free, database.QueryInt64("PRAGMA freelist_count"));
  return StoreUsage{.used_bytes = (pages - free) * page_bytes, .free_bytes = free * page_bytes};
}

absl::StatusOr<bool> ReturnFreePages(SqliteDatabase& writer) {
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t mode, writer.QueryInt64("PRAGMA auto_vacuum"));
  if (mode != kIncremental) return false;
  TRAINYARD_ASSIGN_OR_RETURN(const StoreUsage usage, ReadUsage(writer));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t page_bytes, writer.QueryInt64("PRAGMA page_size"));
  const int64_t surplus = std::min(usage.free_bytes - kKeptFreeBytes, kReturnedBytes) / page_bytes;
  if (surplus <= 0) return false;
  // A PRAGMA takes no bound arguments. Concatenation is safe, because the number does not come from
  // outside. RunScript is needed because it steps the PRAGMA to its end, one page per step.
  TRAINYARD_RETURN_IF_ERROR(
      writer.RunScript(absl::StrCat("PRAGMA incremental_vacuum(", surplus, ")")));
  return true;
}

}  // namespace trainyard::controller
