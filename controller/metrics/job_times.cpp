#include "controller/metrics/job_times.h"

#include <algorithm>

namespace trainyard::controller {
namespace {

// Hands out the time between `at_` and moments that never lie before it.
class Walk {
 public:
  Walk(Timestamp begin, Timestamp end) : at_(begin), end_(std::max(begin, end)) {}

  // Everything up to `moment` was spent in `phase`. 0: it has not come yet.
  void To(Timestamp moment, std::string_view phase) {
    const Timestamp until = moment == 0 ? end_ : std::clamp(moment, at_, end_);
    if (until > at_) times_[phase] += until - at_;
    at_ = until;
  }

  std::map<std::string_view, int64_t> Times() && { return std::move(times_); }

 private:
  Timestamp at_;
  const Timestamp end_;
  std::map<std::string_view, int64_t> times_;
};

// When the attempt stopped being of use: its first failure, else its end.
Timestamp EndOf(const v1::Attempt& attempt) {
  return attempt.verdict().time_ms() != 0 ? attempt.verdict().time_ms() : attempt.ended_time_ms();
}

}  // namespace

std::map<std::string_view, int64_t> JobTimes(const v1::Job& job, Timestamp now) {
  Walk walk(job.submitted_time_ms(), job.ended_time_ms() != 0 ? job.ended_time_ms() : now);
  std::string_view before = "queued";
  for (const v1::Attempt& attempt : job.attempts()) {
    if (before == "queued" && attempt.epoch() > 1) before = "earlier";
    walk.To(attempt.placed_time_ms(), before);
    const Timestamp end = EndOf(attempt);
    if (attempt.started_time_ms() != 0) {
      walk.To(attempt.started_time_ms(), "init");
      walk.To(end, "train");
    } else {
      walk.To(end, "init");
    }
    before = "restart";
  }
  walk.To(0, before);
  return std::move(walk).Times();
}

}  // namespace trainyard::controller
