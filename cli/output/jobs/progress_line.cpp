#include "cli/output/jobs/progress_line.h"

#include <ostream>

#include "absl/strings/str_cat.h"
#include "cli/output/datasets/data_progress_view.h"
#include "cli/output/jobs/job_views.h"
#include "cli/output/terminal/freshness.h"
#include "cli/output/terminal/readable.h"
#include "proto/json/enum_text.h"
#include "proto/text/duration_text.h"

namespace trainyard::cli {
namespace {

// Interval between lines in a log file while the job's state does not change.
constexpr int64_t kQuietMs = 5000;
// Used if a terminal reports no width.
constexpr int kDefaultWidth = 80;

// Returns the line about a change of state, such as a new attempt or a failure. The line is not
// overwritten.
std::string ChangeText(const v1::Job& job) {
  const v1::Attempt* attempt = NewestAttempt(job);
  std::string text = absl::StrCat("job ", job.id(), " ", EnumText(job.state()));
  if (attempt == nullptr) return text;
  if (job.state() == v1::JOB_STATE_RECOVERING && attempt->has_verdict()) {
    return absl::StrCat(text, ": ", OneLine(attempt->verdict().summary()));
  }
  absl::StrAppend(&text, " (attempt ", attempt->number());
  if (attempt->resume_step() > 0) absl::StrAppend(&text, " from step ", attempt->resume_step());
  return text + ")";
}

}  // namespace

std::string ProgressText(const v1::Job& job, Timestamp now) {
  std::string text = EnumText(job.state());
  const v1::Progress& progress = job.progress();
  const bool fresh = HasFreshRate(job, now);
  if (progress.has_data()) {
    absl::StrAppend(&text, "  ", DataProgressText(progress));
    if (fresh && progress.data().bytes_per_second() > 0) {
      absl::StrAppend(&text, "  ", ProgressRateText(progress));
    }
  } else if (progress.step() > 0) {
    absl::StrAppend(&text, "  step ", progress.step());
    if (progress.total_steps() > 0) {
      absl::StrAppend(&text, "/", progress.total_steps(), " (",
                      100 * progress.step() / progress.total_steps(), "%)");
    }
    if (progress.loss() != 0) absl::StrAppend(&text, "  loss ", LossText(progress));
    for (const std::string& evaluated : EvaluationTexts(progress)) {
      absl::StrAppend(&text, "  ", evaluated);
    }
    // Programs other than trainyard-trainer may not report the rate.
    if (fresh && progress.tokens_per_second() > 0) {
      absl::StrAppend(&text, "  ", CompactNumber(progress.tokens_per_second()), " tok/s");
    }
  }
  if (job.state() == v1::JOB_STATE_RUNNING && progress.step() > 0 && !fresh) {
    absl::StrAppend(&text, "  last report ", AgoText(progress.time_ms(), now));
  }
  if (fresh && progress.eta_seconds() > 0) {
    absl::StrAppend(&text, "  eta ",
                    ShortDuration(static_cast<int64_t>(progress.eta_seconds() * 1000)));
  }
  if (job.not_before_ms() > now) {
    absl::StrAppend(&text, "  next try in ", ShortDuration(job.not_before_ms() - now));
  }
  return text;
}

std::string EndText(const v1::Job& job) {
  std::string text = absl::StrCat("job ", job.id(), " ", job.name(), " ", EnumText(job.state()));
  const v1::Progress& progress = job.progress();
  if (progress.has_data()) {
    // The documents of its last step show how far an unfinished job came.
    const bool is_complete = job.state() == v1::JOB_STATE_SUCCEEDED;
    absl::StrAppend(&text, ": ",
                    is_complete ? DataResultText(progress) : DataProgressText(progress));
  } else if (progress.step() > 0) {
    absl::StrAppend(&text, ": step ", progress.step());
    if (progress.loss() != 0) absl::StrAppend(&text, ", loss ", LossText(progress));
    for (const std::string& evaluated : EvaluationTexts(progress, /*in_words=*/true)) {
      absl::StrAppend(&text, ", ", evaluated);
    }
  }
  if (job.ended_time_ms() > 0) {
    absl::StrAppend(&text, ", ", ShortDuration(job.ended_time_ms() - job.submitted_time_ms()));
  }
  const v1::Attempt* attempt = NewestAttempt(job);
  if (job.state() == v1::JOB_STATE_FAILED) {
    // A job whose prerequisite failed has no attempt.
    const v1::Verdict& verdict = attempt == nullptr ? job.verdict() : attempt->verdict();
    absl::StrAppend(&text, "\n", OneLine(verdict.summary()));
  }
  return text;
}

void ProgressLine::Note(const std::string& text) {
  Clear();
  *console_.err << text << std::endl;
}

void ProgressLine::Clear() {
  if (shown_ && console_.err_is_tty) *console_.err << "\r\033[K" << std::flush;
  shown_ = false;
}

void ProgressLine::ShowChange(const v1::Job& job) {
  const v1::Attempt* attempt = NewestAttempt(job);
  const int64_t attempt_number = attempt == nullptr ? 0 : attempt->number();
  if (job.state() == state_ && attempt_number == attempt_number_) return;
  state_ = job.state();
  attempt_number_ = attempt_number;
  Note(ChangeText(job));
}

void ProgressLine::Show(const v1::Job& job) {
  ShowChange(job);
  const std::string text = ProgressText(job, console_.Now());
  if (console_.err_is_tty) {
    const int width = console_.width > 0 ? console_.width : kDefaultWidth;
    *console_.err << "\r\033[K" << CutToWidth(text, width - 1) << std::flush;
    shown_ = true;
    return;
  }
  const bool news = job.progress().step() > 0 && console_.Now() - last_line_ms_ >= kQuietMs;
  if (!news) return;
  last_line_ms_ = console_.Now();
  *console_.err << text << std::endl;
}

}  // namespace trainyard::cli
