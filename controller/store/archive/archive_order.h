// The columns by which an archive in a database sorts its jobs.
#ifndef TRAINYARD_CONTROLLER_STORE_ARCHIVE_ARCHIVE_ORDER_H_
#define TRAINYARD_CONTROLLER_STORE_ARCHIVE_ARCHIVE_ORDER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "controller/store/sqlite/sqlite_database.h"
#include "trainyard/v1/job_service.pb.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::controller {

// Adds a column for each figure that jobs can be sorted by. The columns have no index, because
// these orders are rare and the rows are small. A figure is NULL in rows of older releases.
extern const char kArchiveFigureSchema[];

// The SQL expression of the first part of a sort key (empty if jobs are sorted only by number), and
// the SQLite archive's index on this expression (nullptr if there is none).
struct OrderColumn {
  std::string column;
  const char* index;
};

OrderColumn ColumnOf(const v1::ListJobsRequest& request);

// Stores the figures of one job in its row.
absl::Status StoreFigures(const v1::ArchivedJob& archived, int64_t newest, SqliteDatabase& writer);

// Stores the figures of jobs that older releases archived. A job whose record is damaged has no
// figures, so that the archive still opens.
absl::Status FillFigures(SqliteDatabase& writer);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_ARCHIVE_ARCHIVE_ORDER_H_
