#include "controller/store/support/stream_offsets.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace trainyard::controller {
namespace {

std::string Describe(const StreamKey& stream) {
  return absl::StrCat(v1::StreamKind_Name(stream.kind), " of job ", stream.job_id, ", attempt ",
                      stream.attempt, ", rank ", stream.rank);
}

}  // namespace

absl::Status CheckBatchRange(const StreamKey& stream, ByteRange range, int64_t stored_offset) {
  if (range.begin < 0 || range.end < range.begin) {
    return absl::InvalidArgumentError(absl::StrCat(Describe(stream), ": [", range.begin, ", ",
                                                   range.end, ") is not a byte range"));
  }
  if (range.begin > stored_offset) {
    return absl::OutOfRangeError(
        absl::StrCat(Describe(stream), ": a batch begins at byte ", range.begin, " but only ",
                     stored_offset, " bytes are stored; resend from byte ", stored_offset));
  }
  return absl::OkStatus();
}

}  // namespace trainyard::controller
