#include "controller/store/transfer/store_transfer.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/store/archive/archive_rows.h"

namespace trainyard::controller {
namespace {

constexpr int kArchivedAtOnce = 64;

// The archive and the snapshot are copied as messages, because their tables differ.
std::vector<TransferTable> CopiedTables() {
  using enum StorePart;
  return {
      {kEvents, "event", "seq, job_id, time_ms, kind, payload, checksum", "iiiibi"},
      {kEvents, "deletion", "job_id, seq, finished", "iii"},
      {kEvents, "term", "first_sequence, id", "ii"},
      {kEvents, "store_mark", "store, store_id, writes", "tii"},
      {kMetrics, "stream", "job_id, attempt, rank, kind, stored_offset", "iiiii", 4},
      {kMetrics, "series", "id, job_id, key", "iit"},
      {kMetrics, "attempt", "job_id, attempt, first_step, tail_rows, tail_points", "iiiii", 2},
      {kMetrics, "tail", "id, job_id, attempt, block", "iiib"},
      {kMetrics, "chunk",
       "id, series_id, attempt, first_step, last_step, last_time_ms, count, nan_count, min, max, "
       "last, checksum, block, sum",
       "iiiiiiiirrribr"},
      {kMetrics, "expert", "job_id, step, attempt, time_ms, block", "iiiib", 2},
      {kMetrics, "report_part", "job_id, attempt, number, part, parts, time_ms, block", "iiiiiib",
       4, 16},
      {kMetrics, "job_data_set", "job_id, place, reads, path, xxh64, tokens", "iiitti", 2},
      {kLogs, "log_stream",
       "id, job_id, attempt, rank, end_offset, packed_offset, line_begin, last_time_ms",
       "iiiiiiii"},
      {kLogs, "segment", "id, stream_id, begin_offset, length, first_time_ms, last_time_ms, block",
       "iiiiiib", 1, 32},
  };
}

TransferTable MarkOf(StorePart part, const TransferSide& side) {
  return {part, side.MarkTableOf(part), "store_id, writes, term, sequence, job_id", "iiiii"};
}

std::string Serialized(const google::protobuf::MessageLite& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream out(&stream);
  // Equal messages must have equal bytes.
  out.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&out);
  out.Trim();
  return bytes;
}

absl::Status DamagedRecord(int64_t newest, const SqlDatabase& database) {
  return absl::DataLossError(absl::StrCat(database.name(), ": the archived job ", -newest,
                                          " is damaged; restore a backup"));
}

// Passes the archived jobs to `visit`, newest first, a few at a time.
absl::Status ForEachArchived(
    SqlDatabase& database,
    const std::function<absl::Status(const std::vector<v1::ArchivedJob>&)>& visit) {
  // The key is the negative job id.
  int64_t after = std::numeric_limits<int64_t>::min();
  while (true) {
    std::vector<v1::ArchivedJob> jobs;
    TRAINYARD_ASSIGN_OR_RETURN(
        const auto rows,
        database.Query("SELECT newest, block FROM archived_record WHERE newest > $1 ORDER BY "
                       "newest LIMIT $2",
                       after, kArchivedAtOnce));
    while (true) {
      TRAINYARD_ASSIGN_OR_RETURN(const bool found, rows->Next());
      if (!found) break;
      after = rows->Int64(0);
      std::optional<v1::ArchivedJob> job = OpenRecord(after, rows->Bytes(1));
      if (!job.has_value()) return DamagedRecord(after, database);
      jobs.push_back(*std::move(job));
    }
    TRAINYARD_RETURN_IF_ERROR(visit(jobs));
    if (static_cast<int>(jobs.size()) < kArchivedAtOnce) return absl::OkStatus();
  }
}

absl::StatusOr<TableDigest> DigestArchive(TransferSide& side) {
  TableDigest digest;
  TRAINYARD_RETURN_IF_ERROR(ForEachArchived(side.database(StorePart::kEvents),
                                            [&](const std::vector<v1::ArchivedJob>& jobs) {
                                              for (const v1::ArchivedJob& job : jobs) {
                                                AddToDigest(Serialized(job), digest);
                                              }
                                              return absl::OkStatus();
                                            }));
  return digest;
}

absl::Status CopyArchive(TransferSide& source, TransferSide& target) {
  return ForEachArchived(
      source.database(StorePart::kEvents), [&](const std::vector<v1::ArchivedJob>& jobs) {
        return target.Write(StorePart::kEvents, [&] { return target.AddArchived(jobs); });
      });
}

absl::StatusOr<TableDigest> DigestSnapshot(TransferSide& side) {
  TableDigest digest;
  TRAINYARD_ASSIGN_OR_RETURN(const auto snapshot, side.ReadSnapshot());
  if (snapshot.has_value()) AddToDigest(Serialized(*snapshot), digest);
  return digest;
}

// Replaces the target's mark, which its schema has created.
absl::Status CopyMark(StorePart part, TransferSide& source, TransferSide& target) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const auto rows,
      source.database(part).Query(absl::StrCat(
          "SELECT store_id, writes, term, sequence, job_id FROM ", source.MarkTableOf(part))));
  TRAINYARD_ASSIGN_OR_RETURN(const bool found, rows->Next());
  if (!found) {
    return absl::DataLossError(absl::StrCat(source.database(part).name(), ": the row of table ",
                                            source.MarkTableOf(part), " is missing"));
  }
  return target.Write(part, [&] {
    return target.database(part).Run(
        absl::StrCat("UPDATE ", target.MarkTableOf(part),
                     " SET store_id = $1, writes = $2, term = $3, sequence = $4, job_id = $5"),
        rows->Int64(0), rows->Int64(1), rows->Int64(2), rows->Int64(3), rows->Int64(4));
  });
}

absl::Status Compare(const std::string& name, const TableDigest& source,
                     const TableDigest& target) {
  if (source == target) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      "the copy of ", name, " differs: ", source.rows, " rows with hash ", absl::Hex(source.hash),
      " were read, but the copy has ", target.rows, " rows with hash ", absl::Hex(target.hash),
      ". The source is unchanged; run the command again"));
}

// Digests both sides, compares them, and adds the table to `copied`.
absl::Status Record(const std::string& name, absl::StatusOr<TableDigest> source,
                    absl::StatusOr<TableDigest> target, std::vector<CopiedTable>& copied) {
  TRAINYARD_RETURN_IF_ERROR(source.status());
  TRAINYARD_RETURN_IF_ERROR(target.status());
  copied.push_back({name, *source});
  return Compare(name, *source, *target);
}

}  // namespace

absl::StatusOr<std::vector<CopiedTable>> TransferStores(TransferSide& source,
                                                        TransferSide& target) {
  std::vector<CopiedTable> copied;
  for (const TransferTable& table : CopiedTables()) {
    auto digest = CopyTable(table, source, target);
    TRAINYARD_RETURN_IF_ERROR(
        Record(table.name, std::move(digest), DigestTable(table, target), copied));
  }
  TRAINYARD_RETURN_IF_ERROR(CopyArchive(source, target));
  TRAINYARD_RETURN_IF_ERROR(
      Record("archive", DigestArchive(source), DigestArchive(target), copied));
  TRAINYARD_ASSIGN_OR_RETURN(const auto snapshot, source.ReadSnapshot());
  if (snapshot.has_value()) TRAINYARD_RETURN_IF_ERROR(target.WriteSnapshot(*snapshot));
  TRAINYARD_RETURN_IF_ERROR(
      Record("snapshot", DigestSnapshot(source), DigestSnapshot(target), copied));
  for (const StorePart part : {StorePart::kMetrics, StorePart::kLogs}) {
    TRAINYARD_RETURN_IF_ERROR(CopyMark(part, source, target));
    TRAINYARD_RETURN_IF_ERROR(Record(part == StorePart::kMetrics ? "metric mark" : "log mark",
                                     DigestTable(MarkOf(part, source), source),
                                     DigestTable(MarkOf(part, target), target), copied));
  }
  TRAINYARD_RETURN_IF_ERROR(target.SetNextIds());
  return copied;
}

absl::StatusOr<bool> HasNoRows(TransferSide& side) {
  std::vector<std::pair<StorePart, std::string>> names = {{StorePart::kEvents, "archived_record"},
                                                          {StorePart::kEvents, "snapshot"}};
  for (const TransferTable& table : CopiedTables()) names.emplace_back(table.part, table.name);
  for (const auto& [part, name] : names) {
    TRAINYARD_ASSIGN_OR_RETURN(
        const int64_t rows, side.database(part).QueryInt64(absl::StrCat(
                                "SELECT COUNT(*) FROM (SELECT 1 FROM ", name, " LIMIT 1) AS one")));
    if (rows > 0) return false;
  }
  return true;
}

}  // namespace trainyard::controller
