#include "controller/store/postgres/event_rows.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/store/events/event_payload.h"

namespace trainyard::controller {

absl::Status DamagedLog(const PostgresDatabase& database, absl::string_view what) {
  return absl::DataLossError(
      absl::StrCat(database.name(), ": ", what, "; restore a backup of the database"));
}

absl::StatusOr<v1::Event> ReadEventRow(const PostgresRows& rows, int row,
                                       const PostgresDatabase& database) {
  const int64_t sequence = rows.Int64(row, 0);
  std::optional<v1::Event> event = OpenEvent(rows.Bytes(row, 1), sequence, rows.Int64(row, 2));
  if (!event.has_value()) {
    return DamagedLog(database, absl::StrCat("event ", sequence, " is damaged"));
  }
  return *std::move(event);
}

}  // namespace trainyard::controller
