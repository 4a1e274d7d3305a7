#include "controller/store/sqlite/mark_table.h"

#include <memory>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

bool SameMark(const v1::LogMark& a, const v1::LogMark& b) {
  return a.term() == b.term() && a.sequence() == b.sequence() && a.job_id() == b.job_id();
}

struct Row {
  int64_t store_id = 0;
  int64_t writes = 0;
  v1::LogMark mark;
};

absl::StatusOr<Row> ReadRow(SqliteDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(
      SqliteQuery query,
      database.Query("SELECT store_id, writes, term, sequence, job_id FROM mark"));
  TRAINYARD_ASSIGN_OR_RETURN(const bool found, query.Next());
  if (!found) {
    return absl::DataLossError(absl::StrCat(
        database.path(), ": the row of table mark is missing; restore a backup with `trainyard ",
        "server restore`"));
  }
  Row row{query.Int64(0), query.Int64(1), {}};
  row.mark.set_term(static_cast<uint64_t>(query.Int64(2)));
  row.mark.set_sequence(static_cast<uint64_t>(query.Int64(3)));
  row.mark.set_job_id(query.Int64(4));
  return row;
}

}  // namespace

absl::StatusOr<std::unique_ptr<MarkTable>> MarkTable::Open(SqliteDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(const Row row, ReadRow(database));
  return absl::WrapUnique(new MarkTable(row.store_id, row.writes, row.mark));
}

absl::StatusOr<v1::LogMark> MarkTable::Read(SqliteDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(const Row row, ReadRow(database));
  return row.mark;
}

absl::Status MarkTable::WriteIfDue(SqliteDatabase& database) {
  if (SameMark(noted_, written_)) return absl::OkStatus();
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginWrite(database));
  TRAINYARD_RETURN_IF_ERROR(Write(database));
  TRAINYARD_RETURN_IF_ERROR(transaction.Commit());
  Committed();
  return absl::OkStatus();
}

absl::Status MarkTable::Write(SqliteDatabase& database) {
  return database.Run("UPDATE mark SET writes = ?, term = ?, sequence = ?, job_id = ?",
                      writes_.load() + 1, static_cast<int64_t>(noted_.term()),
                      static_cast<int64_t>(noted_.sequence()), noted_.job_id());
}

void MarkTable::Committed() {
  written_ = noted_;
  ++writes_;
}

}  // namespace trainyard::controller
