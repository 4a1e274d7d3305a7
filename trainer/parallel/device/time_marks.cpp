#include "trainer/parallel/device/time_marks.h"

#include <chrono>

namespace trainyard::trainer {
namespace {

using Clock = std::chrono::steady_clock;

class HostTimeMarks final : public TimeMarks {
 public:
  void Add() override { marks_.push_back(Clock::now()); }

  std::vector<double> TakeGaps() override {
    std::vector<double> gaps;
    for (size_t i = 1; i < marks_.size(); ++i) {
      gaps.push_back(std::chrono::duration<double>(marks_[i] - marks_[i - 1]).count());
    }
    marks_.clear();
    return gaps;
  }

 private:
  std::vector<Clock::time_point> marks_;
};

}  // namespace

std::unique_ptr<TimeMarks> MakeHostTimeMarks() { return std::make_unique<HostTimeMarks>(); }

}  // namespace trainyard::trainer
