#include "trainer/checkpoint/staging_plan.h"

#include <algorithm>
#include <numeric>

namespace trainyard::trainer {
namespace {

// Leaves time for copies that are slower than earlier ones, for example because a snapshot of the
// healing is copied at the same time.
constexpr double kUsedTime = 0.85;

}  // namespace

size_t DirectPieces(const std::vector<int64_t>& piece_bytes, int64_t free_bytes,
                    const CopySpeed& speed) {
  if (speed.bytes_per_second <= 0 || speed.seconds_to_update <= 0) return piece_bytes.size();
  const int64_t all = std::accumulate(piece_bytes.begin(), piece_bytes.end(), int64_t{0});
  const double in_time = kUsedTime * speed.bytes_per_second * speed.seconds_to_update;
  const int64_t must_be_direct = all - std::max<int64_t>(free_bytes, 0);
  const auto direct_bytes =
      std::max(must_be_direct, static_cast<int64_t>(std::min(in_time, static_cast<double>(all))));
  size_t pieces = 0;
  for (int64_t bytes = 0; pieces < piece_bytes.size() && bytes < direct_bytes; ++pieces) {
    bytes += piece_bytes[pieces];
  }
  return pieces;
}

}  // namespace trainyard::trainer
