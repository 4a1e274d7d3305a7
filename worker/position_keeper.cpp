#include "worker/position_keeper.h"

#include <utility>

#include "proto/support/status_text.h"
#include "spdlog/spdlog.h"

namespace trainyard::worker {

PositionKeeper::PositionKeeper(const DataDir& data_dir, const std::string& cluster_id)
    : stored_offsets_(data_dir.File("stored_offsets")),
      log_mark_file_(data_dir.File("log_mark")),
      seen_log_(log_mark_file_.Read(cluster_id)) {}

void PositionKeeper::Take(const v1::ControllerMessage& message, const std::string& cluster_id) {
  if (seen_log_.Take(message)) KeepMark(cluster_id);
}

void PositionKeeper::Keep(const std::vector<StreamPosition>& positions,
                          const std::string& cluster_id, Clock::time_point now) {
  if (now < due_) return;
  due_ = now + kEvery;
  stored_offsets_.Keep(positions);
  KeepMark(cluster_id);
}

void PositionKeeper::KeepMark(const std::string& cluster_id) {
  if (!seen_log_.IsDue()) return;
  const absl::Status status = log_mark_file_.Keep(seen_log_.newest(), cluster_id);
  if (status.ok()) seen_log_.Kept();
  // Only log the error. A rank is started even if the mark is not durable. On a full disk the start
  // itself fails.
  if (std::exchange(mark_error_, status) != status && !status.ok()) {
    spdlog::warn("{}", Text(status));
  }
}

}  // namespace trainyard::worker
