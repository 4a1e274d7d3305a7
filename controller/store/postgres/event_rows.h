// Rows of the table `event`.
#ifndef TRAINYARD_CONTROLLER_STORE_POSTGRES_EVENT_ROWS_H_
#define TRAINYARD_CONTROLLER_STORE_POSTGRES_EVENT_ROWS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "controller/store/postgres/postgres_database.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// DATA_LOSS: names the database, the damage and the next step.
absl::Status DamagedLog(const PostgresDatabase& database, absl::string_view what);

// Returns the event of a row with the columns seq, payload and checksum.
absl::StatusOr<v1::Event> ReadEventRow(const PostgresRows& rows, int row,
                                       const PostgresDatabase& database);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_POSTGRES_EVENT_ROWS_H_
