#include "controller/store/archive/archive_order.h"

#include <array>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/store/archive/archive_rows.h"
#include "controller/store/archive/job_archive.h"
#include "controller/store/support/block_codec.h"

namespace trainyard::controller {

const char kArchiveFigureSchema[] = R"(
  ALTER TABLE archived_job ADD COLUMN loss_key REAL;
  ALTER TABLE archived_job ADD COLUMN best_loss_key REAL;
  ALTER TABLE archived_job ADD COLUMN rate_key REAL;
  ALTER TABLE archived_job ADD COLUMN slots_key REAL;
  ALTER TABLE archived_job ADD COLUMN restarts_key REAL;
  CREATE INDEX archived_without_figures ON archived_job (newest) WHERE slots_key IS NULL;
)";

namespace {

// The number of jobs whose figures one transaction stores.
constexpr int kFilledAtOnce = 1000;

// Returns the column that contains the figure. Returns nullptr if the order is not by a figure.
const char* FigureColumn(v1::JobOrder order) {
  switch (order) {
    case v1::JOB_ORDER_LOSS:
      return "loss_key";
    case v1::JOB_ORDER_BEST_LOSS:
      return "best_loss_key";
    case v1::JOB_ORDER_RATE:
      return "rate_key";
    case v1::JOB_ORDER_SLOTS:
      return "slots_key";
    case v1::JOB_ORDER_RESTARTS:
      return "restarts_key";
    default:
      return nullptr;
  }
}

// Returns an SQL expression for the number in the sort key (PlaceIn).
std::string FigureExpression(const char* column, bool reverse) {
  if (!reverse) return column;
  return absl::StrCat("CASE WHEN ", column, " = 1e300 THEN -1e300 ELSE ", column, " END");
}

static_assert(kUnknownKey == 1e300);

struct Figures {
  int64_t newest = 0;                                 // The row of the job.
  std::array<double, kArchiveFigures.size()> keys{};  // In the order of kArchiveFigures.
};

absl::Status Store(const Figures& figures, SqliteDatabase& writer) {
  const auto& [loss, best_loss, rate, slots, restarts] = figures.keys;
  return writer.Run(
      "UPDATE archived_job SET loss_key = ?, best_loss_key = ?, rate_key = ?, slots_key = ?, "
      "restarts_key = ? WHERE newest = ?",
      loss, best_loss, rate, slots, restarts, figures.newest);
}

// Computes the figures of the next jobs without figures. Keeps only one record in memory, because
// records of jobs with many checkpoints are large.
absl::StatusOr<std::vector<Figures>> MissingFigures(SqliteDatabase& writer) {
  TRAINYARD_ASSIGN_OR_RETURN(
      SqliteQuery query,
      writer.Query("SELECT job.newest, IFNULL(record.block, x'') FROM archived_job AS job LEFT "
                   "JOIN archived_record AS record ON record.newest = job.newest WHERE "
                   "job.slots_key IS NULL LIMIT ?",
                   kFilledAtOnce));
  std::vector<Figures> missing;
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query.Next());
    if (!found) return missing;
    const int64_t newest = query.Int64(0);
    v1::ArchivedJob archived;
    const auto raw = OpenBlock(query.Bytes(1), static_cast<uint64_t>(-newest));
    if (!raw.ok() || !archived.ParseFromString(*raw)) archived.Clear();
    missing.push_back({newest, FigureKeysOf(archived.job())});
  }
}

}  // namespace

OrderColumn ColumnOf(const v1::ListJobsRequest& request) {
  switch (request.order()) {
    case v1::JOB_ORDER_NAME:
      return {"name", "archived_by_name"};
    case v1::JOB_ORDER_USER:
      return {"user", "archived_by_user"};
    case v1::JOB_ORDER_STATE:
      return {"state", "archived_by_state"};
    case v1::JOB_ORDER_PROGRESS:
      return {"progress_key", "archived_by_progress"};
    case v1::JOB_ORDER_ENDED:
      return {"ended_key", "archived_by_ended"};
    case v1::JOB_ORDER_ETA:
      return {request.reverse() ? "-1e300" : "1e300", nullptr};
    default:
      break;
  }
  const char* figure = FigureColumn(request.order());
  if (figure == nullptr) return {"", nullptr};
  return {FigureExpression(figure, request.reverse()), nullptr};
}

absl::Status StoreFigures(const v1::ArchivedJob& archived, int64_t newest, SqliteDatabase& writer) {
  return Store({newest, FigureKeysOf(archived.job())}, writer);
}

absl::Status FillFigures(SqliteDatabase& writer) {
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const auto missing, MissingFigures(writer));
    if (missing.empty()) return absl::OkStatus();
    TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginWrite(writer));
    for (const Figures& figures : missing) {
      TRAINYARD_RETURN_IF_ERROR(Store(figures, writer));
    }
    TRAINYARD_RETURN_IF_ERROR(transaction.Commit());
  }
}

}  // namespace trainyard::controller
