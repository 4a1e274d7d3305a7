// Refuses messages of a controller that no longer leads.
#ifndef TRAINYARD_WORKER_CORE_TERM_FENCE_H_
#define TRAINYARD_WORKER_CORE_TERM_FENCE_H_

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/contract/leader_term.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::worker {

// The highest term that this node has seen never decreases, also across restarts of the worker.
class TermFence {
 public:
  // `kept`: the term on disk.
  explicit TermFence(int64_t kept = kFirstTerm) : highest_(std::max(kept, kFirstTerm)) {
    kept_ = highest_;
  }

  // Returns ABORTED if this node has seen a higher term than that of the message. Otherwise the
  // term of the message becomes the highest one.
  absl::Status Admit(const v1::ControllerMessage& message) {
    const int64_t term = TermOfField(message.leader_term());
    if (term < highest_) {
      return absl::AbortedError(
          absl::StrCat("the controller leads term ", term, ", but this node has seen term ",
                       highest_, ", so another controller leads now; nothing was executed"));
    }
    highest_ = term;
    return absl::OkStatus();
  }

  // The term to send in Hello.
  int64_t highest() const { return highest_; }
  // True if the highest term is not on disk. It must be written before the message is carried out.
  bool IsDue() const { return highest_ != kept_; }
  // Call when the highest term is on disk.
  void Kept() { kept_ = highest_; }

 private:
  int64_t highest_;
  int64_t kept_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_TERM_FENCE_H_
