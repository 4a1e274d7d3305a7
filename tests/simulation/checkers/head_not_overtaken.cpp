// Jobs get their first slots in the order in which they entered the queue. A resumed job and a job
// that has yielded its slots enter the queue again, and the rule applies to their next slots.
#include <set>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"
#include "tests/simulation/checkers/condition_model.h"

namespace trainyard::simulation {
namespace {

class HeadNotOvertakenChecker : public Checker {
 public:
  const char* Name() const override { return "head not overtaken"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      const v1::Event& event = step.log[i];
      if (event.has_job_placed()) {
        const int64_t job_id = event.job_placed().job_id();
        const bool queued = queued_.contains(job_id);
        if (queued && *queued_.begin() != job_id) {
          return absl::StrCat("job ", job_id, " overtook job ", *queued_.begin());
        }
        live_.insert(job_id);
      }
      if (event.has_attempt_ended()) live_.erase(event.attempt_ended().job_id());
      Note(event);
      NoteYields(event);
    }
    return "";
  }

 private:
  void Note(const v1::Event& event) {
    NoteDependencies(event);
    if (event.has_job_submitted() && !event.job_submitted().held()) {
      Enter(event.job_submitted().job_id());
    }
    if (event.has_job_paused()) Leave(event.job_paused().job_id());
    // If a job is resumed while its ranks are still exiting, it keeps its slots and does not enter
    // the queue.
    if (event.has_job_resumed() && !live_.contains(event.job_resumed().job_id())) {
      Enter(event.job_resumed().job_id());
    }
    if (event.has_job_ended()) Leave(event.job_ended().job_id());
    if (event.has_job_placed()) queued_.erase(event.job_placed().job_id());
  }

  // A job enters the queue again when the attempt that yielded has ended, unless a user has paused
  // the job in the meantime.
  void NoteYields(const v1::Event& event) {
    if (event.has_attempt_yielded()) yielding_.insert(event.attempt_yielded().job_id());
    if (event.has_job_paused()) paused_.insert(event.job_paused().job_id());
    if (event.has_job_resumed()) paused_.erase(event.job_resumed().job_id());
    const v1::AttemptEnded& ended = event.attempt_ended();
    if (!event.has_attempt_ended() || yielding_.erase(ended.job_id()) == 0) return;
    const bool continues = ended.retry_not_before_ms() != 0;
    if (continues && !paused_.contains(ended.job_id())) Enter(ended.job_id());
  }

  // A job enters the queue when all its conditions in `after` are met.
  void Enter(int64_t job_id) { (model_.AreMet(job_id) ? queued_ : dependent_).insert(job_id); }

  void Leave(int64_t job_id) {
    queued_.erase(job_id);
    dependent_.erase(job_id);
  }

  void NoteDependencies(const v1::Event& event) {
    model_.Note(event);
    std::erase_if(dependent_, [&](int64_t job_id) {
      const bool is_met = model_.AreMet(job_id);
      if (is_met) queued_.insert(job_id);
      return is_met;
    });
  }

  std::set<int64_t> queued_;
  std::set<int64_t> dependent_;  // Queued jobs that are not in the queue yet.
  ConditionModel model_;
  std::set<int64_t> live_;      // Jobs with an attempt that has not ended.
  std::set<int64_t> yielding_;  // Jobs whose live attempt yields its slots.
  std::set<int64_t> paused_;    // Jobs that users have paused.
};

}  // namespace

std::unique_ptr<Checker> HeadNotOvertaken() { return std::make_unique<HeadNotOvertakenChecker>(); }

}  // namespace trainyard::simulation
