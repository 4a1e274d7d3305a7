#include "controller/store/sql/mark_table.h"

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

absl::StatusOr<Row> ReadRow(SqlConnections& connections) {
  TRAINYARD_ASSIGN_OR_RETURN(const auto reader, connections.BeginRead(ReadView::kEachStatement));
  TRAINYARD_ASSIGN_OR_RETURN(
      const auto rows,
      (*reader)->Query(absl::StrCat("SELECT store_id, writes, term, sequence, job_id FROM ",
                                    connections.mark_table())));
  TRAINYARD_ASSIGN_OR_RETURN(const bool found, rows->Next());
  if (!found) {
    return absl::DataLossError(
        absl::StrCat((*reader)->name(), ": the row of table ", connections.mark_table(),
                     " is missing; restore a backup with `trainyard ", "server restore`"));
  }
  Row row{rows->Int64(0), rows->Int64(1), {}};
  row.mark.set_term(static_cast<uint64_t>(rows->Int64(2)));
  row.mark.set_sequence(static_cast<uint64_t>(rows->Int64(3)));
  row.mark.set_job_id(rows->Int64(4));
  return row;
}

}  // namespace

absl::StatusOr<std::unique_ptr<MarkTable>> MarkTable::Open(SqlConnections& connections) {
  TRAINYARD_ASSIGN_OR_RETURN(const Row row, ReadRow(connections));
  return absl::WrapUnique(
      new MarkTable(connections.mark_table(), row.store_id, row.writes, row.mark));
}

absl::StatusOr<v1::LogMark> MarkTable::Read(SqlConnections& connections) {
  TRAINYARD_ASSIGN_OR_RETURN(const Row row, ReadRow(connections));
  return row.mark;
}

absl::Status MarkTable::WriteIfDue(SqlConnections& connections) {
  if (SameMark(noted_, written_)) return absl::OkStatus();
  TRAINYARD_ASSIGN_OR_RETURN(const auto transaction, connections.BeginWrite());
  TRAINYARD_RETURN_IF_ERROR(Write(**transaction));
  TRAINYARD_RETURN_IF_ERROR(transaction->Commit());
  Committed();
  return absl::OkStatus();
}

absl::Status MarkTable::Write(SqlDatabase& database) {
  return database.Run(
      absl::StrCat("UPDATE ", table_, " SET writes = $1, term = $2, sequence = $3, job_id = $4"),
      writes_.load() + 1, static_cast<int64_t>(noted_.term()),
      static_cast<int64_t>(noted_.sequence()), noted_.job_id());
}

void MarkTable::Committed() {
  written_ = noted_;
  ++writes_;
}

}  // namespace trainyard::controller
