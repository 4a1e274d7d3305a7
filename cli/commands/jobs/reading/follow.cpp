#include "cli/commands/jobs/reading/follow.h"

#include <ostream>

#include "absl/strings/str_cat.h"
#include "cli/commands/jobs/reading/waiting_note.h"
#include "cli/output/jobs/job_views.h"
#include "cli/output/jobs/progress_line.h"
#include "cli/output/terminal/readable.h"
#include "proto/support/job_state.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// Follows one job.
class Follower {
 public:
  Follower(const FollowOptions& options, Context& context)
      : options_(options), context_(context), progress_(context.console) {}

  Outcome Run() {
    Interrupt& interrupt = *context_.environment.interrupt;
    if (context_.environment.listen_to_signals) interrupt.Listen();
    v1::WatchJobRequest request;
    request.set_job(options_.job);
    const StreamControl control{&interrupt, options_.deadline, [this] { OnLost(); }};
    const absl::Status status =
        context_.client.WatchJob(request, control, [this](const v1::WatchJobResponse& response) {
          Take(response.job());
          return context_.console.out->good();
        });
    progress_.Clear();
    if (status.code() == absl::StatusCode::kCancelled) return Detach(ExitCode::kInterrupted);
    if (status.code() == absl::StatusCode::kAborted && options_.deadline.has_value()) {
      return Detach(ExitCode::kTimeout);
    }
    TRAINYARD_RETURN_IF_ERROR(status);
    return Finish();
  }

 private:
  // Returns the job's number once it is known, because a newer job may have the same name.
  std::string JobText() const { return job_.id() == 0 ? options_.job : absl::StrCat(job_.id()); }

  void OnLost() {
    if (!options_.progress) return;
    progress_.Note("connection to the controller lost; the job is not affected; reconnecting");
  }

  void Take(const v1::Job& job) {
    job_ = job;
    if (context_.format == OutputFormat::kJson) {
      *context_.console.out << DumpJson(JobDocument(job, context_.console.Now()), -1) << std::endl;
    }
    if (!options_.progress) return;
    if (IsWaiting(job.state())) ShowPendingReason();
    progress_.Show(job);
  }

  void ShowPendingReason() {
    if (job_.state() == explained_) return;
    explained_ = job_.state();
    for (const std::string& note : WaitingNotes(JobText(), context_.client)) progress_.Note(note);
  }

  ExitCode Detach(ExitCode code) {
    const std::string job = JobText();
    PrintNote(
        context_.console,
        absl::StrCat(code == ExitCode::kTimeout ? "--timeout reached" : "detached", "; job ", job,
                     " continues\n  follow  trainyard wait -f ", job,
                     "\n  output  trainyard logs -f ", job, "\n  stop    trainyard stop ", job));
    return code;
  }

  Outcome Finish() {
    if (!context_.console.out->good()) return ExitCode::kFailed;
    if (!HasEnded(job_.state())) {
      return absl::UnavailableError(
          absl::StrCat("the controller closed the stream before job ", JobText(),
                       " ended\nthe job is not affected; follow it again with `trainyard wait -f ",
                       JobText(), "`"));
    }
    const bool succeeded = job_.state() == v1::JOB_STATE_SUCCEEDED;
    switch (context_.format) {
      case OutputFormat::kJson:
        break;  // The previous update has already printed the final state.
      case OutputFormat::kTable:
      case OutputFormat::kWide:
        *context_.console.out << EndText(job_) << "\n";
        break;
      default:
        PrintDocument(JobDocument(job_, context_.console.Now()), JobText(), context_.format,
                      context_.console);
    }
    if (!succeeded) {
      PrintNote(context_.console, absl::StrCat("  why     trainyard why ", JobText(),
                                               "\n  output  trainyard logs ", JobText()));
    }
    if (job_.verdict().cause() == v1::VERDICT_CAUSE_TIME_LIMIT) return ExitCode::kTimeLimit;
    return succeeded ? ExitCode::kOk : ExitCode::kJobFailed;
  }

  const FollowOptions& options_;
  Context& context_;
  ProgressLine progress_;
  v1::Job job_;
  v1::JobState explained_ = v1::JOB_STATE_UNSPECIFIED;  // The state that was explained last.
};

}  // namespace

Outcome FollowJob(const FollowOptions& options, Context& context) {
  return Follower(options, context).Run();
}

absl::StatusOr<std::optional<std::chrono::steady_clock::time_point>> DeadlineFrom(
    const std::string& text) {
  if (text.empty()) return std::nullopt;
  const int64_t limit_ms = ParseDurationText(text);
  // A year, which is long enough for every wait and short enough not to overflow a clock.
  constexpr int64_t kMaxMs = int64_t{366} * 24 * 3600 * 1000;
  if (limit_ms < 0 || limit_ms > kMaxMs) {
    return absl::InvalidArgumentError(
        absl::StrCat("--timeout ", text, ": must be a duration, such as 30s, 10m or 2h"));
  }
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(limit_ms);
}

}  // namespace trainyard::cli
