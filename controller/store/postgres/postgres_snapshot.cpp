#include "controller/store/postgres/postgres_snapshot.h"

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "controller/store/postgres/leader_table.h"
#include "controller/store/support/block_codec.h"
#include "controller/store/support/checksum.h"

namespace trainyard::controller {
namespace {

constexpr int kPartBytes = 1 << 20;
// Protobuf's limit for one message.
constexpr std::size_t kSnapshotBytesMax = std::numeric_limits<int>::max();
constexpr int kStalePartsAtOnce = 64;

uint64_t SeedOf(int64_t sequence, int64_t part) { return HashOf({sequence, part}); }

// Stores each piece of the serialized message as a row.
class PartWriter : public google::protobuf::io::CopyingOutputStream {
 public:
  PartWriter(int64_t term, int64_t part_set, int64_t sequence, PostgresDatabase& database)
      : term_(term), part_set_(part_set), sequence_(sequence), database_(database) {}

  bool Write(const void* buffer, int size) override {
    std::string_view left(static_cast<const char*>(buffer), static_cast<std::size_t>(size));
    while (!left.empty() && status_.ok()) {
      const std::string_view raw = left.substr(0, kPartBytes);
      left.remove_prefix(raw.size());
      status_ = Insert(raw);
    }
    return status_.ok();
  }

  const absl::Status& status() const { return status_; }
  int64_t parts() const { return parts_; }

 private:
  absl::Status Insert(std::string_view raw) {
    TRAINYARD_ASSIGN_OR_RETURN(auto transaction, BeginLeaderWrite(term_, database_));
    TRAINYARD_RETURN_IF_ERROR(database_.Run("INSERT INTO snapshot_part VALUES ($1, $2, $3)",
                                            part_set_, parts_,
                                            SealBlock(raw, SeedOf(sequence_, parts_))));
    TRAINYARD_RETURN_IF_ERROR(transaction.Commit());
    ++parts_;
    return absl::OkStatus();
  }

  const int64_t term_;
  const int64_t part_set_;
  const int64_t sequence_;
  PostgresDatabase& database_;
  int64_t parts_ = 0;
  absl::Status status_;
};

// Reads the rows of one snapshot in order. Keeps one row in memory.
class PartReader : public google::protobuf::io::CopyingInputStream {
 public:
  PartReader(int64_t part_set, int64_t sequence, PostgresDatabase& database)
      : part_set_(part_set), sequence_(sequence), database_(database) {}

  int Read(void* buffer, int size) override {
    if (position_ == raw_.size() && !ReadNext()) return status_.ok() ? 0 : -1;
    const std::size_t bytes = std::min(static_cast<std::size_t>(size), raw_.size() - position_);
    std::memcpy(buffer, raw_.data() + position_, bytes);
    position_ += bytes;
    return static_cast<int>(bytes);
  }

  const absl::Status& status() const { return status_; }
  int64_t parts() const { return parts_; }

 private:
  // Returns false after the last row, and after an error.
  bool ReadNext() {
    auto rows = database_.Query("SELECT block FROM snapshot_part WHERE part_set = $1 AND part = $2",
                                part_set_, parts_);
    status_ = rows.status();
    if (!rows.ok() || rows->size() == 0) return false;
    auto raw = OpenBlock(rows->Bytes(0, 0), SeedOf(sequence_, parts_));
    status_ = raw.status();
    if (!raw.ok()) return false;
    raw_ = *std::move(raw);
    position_ = 0;
    ++parts_;
    return !raw_.empty();
  }

  const int64_t part_set_;
  const int64_t sequence_;
  PostgresDatabase& database_;
  std::string raw_;
  std::size_t position_ = 0;
  int64_t parts_ = 0;
  absl::Status status_;
};

// Removes rows of snapshots that were interrupted or replaced.
absl::Status DropStaleRows(int64_t term, PostgresDatabase& database) {
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(auto transaction, BeginLeaderWrite(term, database));
    TRAINYARD_ASSIGN_OR_RETURN(
        const PostgresRows dropped,
        database.Query("DELETE FROM snapshot_part WHERE (part_set, part) IN (SELECT part_set, part "
                       "FROM snapshot_part WHERE part_set NOT IN (SELECT part_set FROM snapshot) "
                       "LIMIT $1)",
                       kStalePartsAtOnce));
    TRAINYARD_RETURN_IF_ERROR(transaction.Commit());
    if (dropped.changed() < kStalePartsAtOnce) return absl::OkStatus();
  }
}

absl::StatusOr<int64_t> WriteParts(const v1::Snapshot& snapshot, PartWriter& writer) {
  google::protobuf::io::CopyingOutputStreamAdaptor stream(&writer, kPartBytes);
  const bool written = snapshot.SerializeToZeroCopyStream(&stream) && stream.Flush();
  TRAINYARD_RETURN_IF_ERROR(writer.status());
  if (!written) return absl::InternalError("the snapshot cannot be serialized");
  return writer.parts();
}

absl::Status Install(int64_t sequence, int64_t part_set, int64_t parts, int64_t term,
                     PostgresDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, BeginLeaderWrite(term, database));
  TRAINYARD_RETURN_IF_ERROR(database.Run("DELETE FROM snapshot"));
  TRAINYARD_RETURN_IF_ERROR(
      database.Run("INSERT INTO snapshot VALUES ($1, $2, $3)", sequence, part_set, parts));
  return transaction.Commit();
}

}  // namespace

absl::Status WritePostgresSnapshot(const v1::Snapshot& snapshot, int64_t term,
                                   PostgresDatabase& database) {
  const auto sequence = static_cast<int64_t>(snapshot.last_sequence());
  if (snapshot.ByteSizeLong() > kSnapshotBytesMax) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the snapshot at event ", sequence, " takes ", snapshot.ByteSizeLong(),
                     " bytes, so it was not stored: the store accepts at most ", kSnapshotBytesMax,
                     ". All events are kept, but a restart takes longer"));
  }
  TRAINYARD_RETURN_IF_ERROR(DropStaleRows(term, database));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t part_set,
                             database.QueryInt64("SELECT nextval('snapshot_set')"));
  PartWriter writer(term, part_set, sequence, database);
  const absl::StatusOr<int64_t> parts = WriteParts(snapshot, writer);
  const absl::Status installed =
      parts.ok() ? Install(sequence, part_set, *parts, term, database) : parts.status();
  // Drop stale rows even after a failure, so that unused rows do not fill the disk.
  const absl::Status dropped = DropStaleRows(term, database);
  return installed.ok() ? dropped : installed;
}

absl::StatusOr<std::optional<v1::Snapshot>> ReadPostgresSnapshot(PostgresDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(const PostgresRows rows,
                             database.Query("SELECT last_sequence, part_set, parts FROM snapshot"));
  if (rows.size() == 0) return std::nullopt;
  const int64_t sequence = rows.Int64(0, 0);
  PartReader reader(rows.Int64(0, 1), sequence, database);
  google::protobuf::io::CopyingInputStreamAdaptor stream(&reader, kPartBytes);
  std::optional<v1::Snapshot> snapshot(std::in_place);
  const bool parsed = snapshot->ParseFromZeroCopyStream(&stream);
  if (!reader.status().ok() && !absl::IsDataLoss(reader.status())) return reader.status();
  if (!parsed || !reader.status().ok() || reader.parts() != rows.Int64(0, 2) ||
      static_cast<int64_t>(snapshot->last_sequence()) != sequence) {
    return absl::DataLossError(absl::StrCat(database.name(), ": the snapshot at event ", sequence,
                                            " is damaged; restore a backup of the database"));
  }
  return snapshot;
}

}  // namespace trainyard::controller
