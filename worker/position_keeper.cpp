#include "worker/position_keeper.h"

#include <utility>

#include "proto/support/status_macros.h"
#include "proto/support/status_text.h"
#include "spdlog/spdlog.h"

namespace trainyard::worker {

PositionKeeper::PositionKeeper(const DataDir& data_dir, const std::string& cluster_id)
    : stored_offsets_(data_dir.File("stored_offsets")),
      log_mark_file_(data_dir.File("log_mark")),
      seen_log_(log_mark_file_.Read(cluster_id)),
      leader_term_file_(data_dir.File("leader_term")),
      term_fence_(leader_term_file_.Read(cluster_id)) {}

absl::Status PositionKeeper::Admit(const v1::ControllerMessage& message,
                                   const std::string& cluster_id) {
  TRAINYARD_RETURN_IF_ERROR(term_fence_.Admit(message));
  if (!term_fence_.IsDue()) return absl::OkStatus();
  // A new node learns the id of its cluster with this message.
  const std::string& cluster = cluster_id.empty() ? message.welcome().cluster_id() : cluster_id;
  const absl::Status status = leader_term_file_.Keep(term_fence_.highest(), cluster);
  // Only log the error. The term stays in force until the worker ends, and a full disk must not
  // prevent a stop.
  if (!status.ok()) spdlog::warn("{}", Text(status));
  term_fence_.Kept();
  return absl::OkStatus();
}

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
