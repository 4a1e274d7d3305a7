#include "worker/spool/stored_offsets.h"

#include "absl/status/statusor.h"
#include "proto/support/durable_file.h"

namespace trainyard::worker {
namespace {

// The maximum size of the file. A stream takes about 40 bytes.
constexpr std::size_t kMaxOffsetsBytes = 64 << 20;

}  // namespace

std::vector<StreamPosition> StoredOffsets::Read() const {
  std::vector<StreamPosition> positions;
  const absl::StatusOr<std::string> text = ReadSmallFile(path_, kMaxOffsetsBytes);
  v1::Welcome kept;
  if (!text.ok() || !kept.ParseFromString(*text)) return positions;
  for (const v1::StreamAcknowledged& stored : kept.streams()) {
    positions.push_back({stored.stream(), stored.offset()});
  }
  return positions;
}

void StoredOffsets::Keep(const std::vector<StreamPosition>& positions) {
  // The file contains a Welcome: the message in which a controller sends the offsets.
  v1::Welcome welcome;
  for (const StreamPosition& position : positions) {
    if (position.acknowledged == 0) continue;
    v1::StreamAcknowledged& stored = *welcome.add_streams();
    *stored.mutable_stream() = position.id;
    stored.set_offset(position.acknowledged);
  }
  std::string text = welcome.SerializeAsString();
  if (text == kept_ || !WriteFileAtomically(path_, text).ok()) return;
  kept_ = std::move(text);
}

}  // namespace trainyard::worker
