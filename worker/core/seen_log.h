// The newest mark of the controller's event log that this node has received. The node sends the
// mark back, so that the controller can detect that an older copy has replaced its log.
#ifndef TRAINYARD_WORKER_CORE_SEEN_LOG_H_
#define TRAINYARD_WORKER_CORE_SEEN_LOG_H_

#include <utility>

#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::worker {

class SeenLog {
 public:
  explicit SeenLog(v1::LogMark kept = {}) : newest_(kept), kept_(std::move(kept)) {}

  void Take(const v1::LogMark& mark) {
    if (mark.sequence() != 0) newest_ = mark;
  }
  // Records the mark in the message. Returns true if the mark must be written to disk before the
  // message is carried out. Without the mark on disk, the controller could assign the attempt
  // number again after its log has lost the event of this start.
  bool Take(const v1::ControllerMessage& message) {
    if (message.has_facts_acknowledged()) Take(message.facts_acknowledged().log_mark());
    if (!message.has_start_attempt()) return false;
    Take(message.start_attempt().log_mark());
    return IsDue();
  }

  // True if the newest mark is not on disk.
  bool IsDue() const {
    return newest_.term() != kept_.term() || newest_.sequence() != kept_.sequence();
  }
  // Call when the newest mark is on disk.
  void Kept() { kept_ = newest_; }

  // The mark to send in Hello. The sequence is 0 until a mark is received.
  const v1::LogMark& newest() const { return newest_; }

 private:
  v1::LogMark newest_;
  v1::LogMark kept_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_SEEN_LOG_H_
