// The longer texts that job_views.h declares, for `describe` and verdicts.
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "cli/output/cluster/usage_text.h"
#include "cli/output/datasets/data_progress_view.h"
#include "cli/output/datasets/linked_data_sets.h"
#include "cli/output/jobs/code_view.h"
#include "cli/output/jobs/environment_view.h"
#include "cli/output/jobs/event_text.h"
#include "cli/output/jobs/health_view.h"
#include "cli/output/jobs/job_views.h"
#include "cli/output/jobs/lineage_view.h"
#include "cli/output/jobs/note_views.h"
#include "cli/output/terminal/freshness.h"
#include "cli/output/terminal/readable.h"
#include "proto/jobspec/fields/auto_layout.h"
#include "proto/jobspec/fields/node_range.h"
#include "proto/json/enum_text.h"
#include "proto/support/gang_size.h"
#include "proto/support/job_state.h"
#include "proto/text/duration_text.h"

namespace trainyard::cli {
namespace {

// The number of lines of the failed rank's output that `describe` and `why` show. `logs` shows the
// whole output.
constexpr std::size_t kLogTailLines = 20;

// Adds a heading and, below it, a table indented by two columns.
void AddTable(const std::string& heading, const Listing& listing, std::string& text) {
  if (listing.rows.empty()) return;
  std::string table = RenderTable(listing, true, 0);
  table.pop_back();
  absl::StrAppend(&text, "\n", heading, "\n  ", absl::StrReplaceAll(table, {{"\n", "\n  "}}), "\n");
}

// Adds a heading and, below it, the lines of a tree indented by two columns.
void AddTree(const std::string& heading, const std::string& tree, std::string& text) {
  if (tree.empty()) return;
  const std::string lines = tree.substr(0, tree.size() - 1);
  absl::StrAppend(&text, "\n", heading, "\n  ", absl::StrReplaceAll(lines, {{"\n", "\n  "}}), "\n");
}

void AddLine(const std::string& label, const std::string& value, std::string& text) {
  if (!value.empty()) text += LabelLine(label, value);
}

// Adds the reason why a job waits, with advice for the user.
void AddPending(const v1::PendingReason& pending, std::string& text) {
  if (pending.code() == v1::PENDING_CODE_NOT_PENDING) return;
  AddLine("Reason", pending.message(), text);
  AddLine("Try", pending.advice(), text);
}

// Adds the findings about an unhealthy job, and the steps that a kill would lose.
void AddHealth(const v1::JobHealth& health, Timestamp now, std::string& text) {
  if (health.word() == v1::HEALTH_WORD_UNSPECIFIED) return;
  const std::vector<std::string> lines = HealthLines(health, now);
  if (lines.empty()) AddLine("Health", HealthText(health), text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    AddLine(i == 0 ? "Health" : "", lines[i], text);
    AddLine("Try", health.findings(static_cast<int>(i)).advice(), text);
  }
  if (health.steps_at_risk() > 0) {
    AddLine("At risk", absl::StrCat(health.steps_at_risk(), " steps that no checkpoint contains"),
            text);
  }
}

// Adds the rest of the time limit and the action at the limit.
void AddTimeLimit(const v1::Job& job, std::string& text) {
  if (!job.spec().has_time_limit() || HasEnded(job.state())) return;
  const v1::TimeLimitUse& use = job.time_limit_use();
  const bool requeues = job.spec().at_time_limit() == v1::AT_TIME_LIMIT_REQUEUE;
  AddLine("Time limit",
          absl::StrCat(ShortDuration(use.remaining_ms()), " left, then ",
                       requeues ? "queued again" : "ended",
                       use.extended_ms() > 0
                           ? absl::StrCat("; extended by ", ShortDuration(use.extended_ms()))
                           : "",
                       use.requeues() > 0 ? absl::StrCat("; requeues: ", use.requeues()) : ""),
          text);
}

std::string WhenText(Timestamp time_ms, Timestamp now) {
  return time_ms == 0 ? "" : absl::StrCat(IsoTime(time_ms), " (", AgoText(time_ms, now), ")");
}

// Adds the rate and the remaining time at this rate. If the rate is outdated, marks the rate as old
// and omits the remaining time.
void AddSpeed(const v1::Job& job, Timestamp now, std::string& text) {
  const v1::Progress& progress = job.progress();
  std::vector<std::string> parts;
  if (progress.data().bytes_per_second() > 0) parts.push_back(ProgressRateText(progress));
  if (progress.tokens_per_second() > 0) {
    parts.push_back(CompactNumber(progress.tokens_per_second()) + " tokens/s");
  }
  if (progress.step_seconds() > 0) {
    parts.push_back(NumberText(progress.step_seconds(), 4) + " s a step");
  }
  const bool fresh = HasFreshRate(job, now);
  AddLine(fresh ? "Speed" : "Last speed", absl::StrJoin(parts, ", "), text);
  if (fresh && progress.eta_seconds() > 0) {
    AddLine("ETA", ShortDuration(static_cast<int64_t>(progress.eta_seconds() * 1000)), text);
  }
}

void AddSteps(const v1::Progress& progress, std::string& text) {
  if (progress.has_data()) {
    for (const auto& [label, value] : DataProgressLines(progress)) AddLine(label, value, text);
    return;
  }
  AddLine("Step",
          absl::StrCat(progress.step(), progress.total_steps() > 0 ? " of " : "",
                       progress.total_steps() > 0 ? absl::StrCat(progress.total_steps()) : ""),
          text);
  if (progress.loss() != 0) AddLine("Loss", LossText(progress), text);
  const std::vector<std::string> evaluations = EvaluationTexts(progress);
  if (!evaluations.empty()) AddLine("Evaluation", absl::StrJoin(evaluations, ", "), text);
}

void AddProgress(const v1::Job& job, Timestamp now, std::string& text) {
  const v1::Progress& progress = job.progress();
  if (progress.step() == 0 && !progress.has_data()) return;
  absl::StrAppend(&text, "\nProgress\n");
  AddSteps(progress, text);
  AddSpeed(job, now, text);
  AddLine("Reported", AgoText(progress.time_ms(), now), text);
}

// Returns the step from which the attempt started. The attempt's reports take precedence over its
// checkpoint.
int64_t StepBefore(const v1::Attempt& attempt) {
  return attempt.first_step() > 0 ? attempt.first_step() - 1 : attempt.resume_step();
}

void AddAttempts(const v1::GetJobResponse& response, int64_t only, Timestamp now,
                 std::string& text) {
  Listing listing;
  listing.columns = {{"ATTEMPT", true},   {"STATE"},      {"RANKS", true}, {"FROM STEP", true},
                     {"LAST STEP", true}, {"TOOK", true}, {"VERDICT"}};
  for (const v1::Attempt& attempt : response.job().attempts()) {
    if (only != 0 && attempt.number() != only) continue;
    const Timestamp end = attempt.ended_time_ms() == 0 ? now : attempt.ended_time_ms();
    listing.rows.push_back(
        {{absl::StrCat(attempt.number()), EnumText(attempt.state()), CountText(GangSize(attempt)),
          CountText(StepBefore(attempt)), CountText(attempt.last_step()),
          AgeText(attempt.placed_time_ms(), end), attempt.verdict().summary()},
         "",
         {}});
  }
  AddTable("Attempts", listing, text);
}

const v1::Attempt* ShownAttempt(const v1::Job& job, int64_t only) {
  if (only == 0) return NewestAttempt(job);
  for (const v1::Attempt& attempt : job.attempts()) {
    if (attempt.number() == only) return &attempt;
  }
  return nullptr;
}

// Adds the rollbacks of the loss guard, newest last; nothing if there were none.
void AddRollbacks(const v1::Job& job, std::string& text) {
  if (job.rollbacks().empty()) return;
  AddLine("Rollbacks",
          absl::StrCat(job.rollbacks_size(), " of ", job.spec().guard().max_rollbacks(), " used"),
          text);
  for (const v1::Rollback& rollback : job.rollbacks()) {
    std::string line = absl::StrCat("from step ", rollback.step(), " to ", rollback.to_step(), " (",
                                    rollback.reason(), ")");
    if (!rollback.skip_samples().empty()) {
      absl::StrAppend(&line, ", skips samples ", rollback.skip_samples());
    }
    if (rollback.lr_factor() > 0) absl::StrAppend(&line, ", lr x ", rollback.lr_factor());
    AddLine("", line, text);
  }
}

// Returns, for example, "succeeded", "has not ended (failure required)" or "has no checkpoint at
// step 5000 or later".
std::string ConditionProgress(const v1::Prerequisite& prerequisite) {
  if (prerequisite.condition() == v1::JOB_CONDITION_CHECKPOINT) {
    if (prerequisite.has_checkpoint_step()) {
      return absl::StrCat("has a checkpoint at step ", prerequisite.checkpoint_step());
    }
    if (prerequisite.step() == 0) return "has no checkpoint";
    return absl::StrCat("has no checkpoint at step ", prerequisite.step(), " or later");
  }
  const bool ended = prerequisite.outcome() != v1::JOB_STATE_UNSPECIFIED;
  const std::string text = ended ? EnumText(prerequisite.outcome()) : "has not ended";
  const bool is_default = prerequisite.condition() == v1::JOB_CONDITION_UNSPECIFIED ||
                          prerequisite.condition() == v1::JOB_CONDITION_SUCCESS;
  if (is_default) return text;
  return absl::StrCat(text, " (", EnumText(prerequisite.condition()), " required)");
}

// Returns the jobs that this job waits or waited for, such as "job 12 (tokens) succeeded".
std::string AfterText(const v1::Job& job) {
  return absl::StrJoin(job.after(), ", ", [](std::string* out, const v1::Prerequisite& one) {
    absl::StrAppend(out, "job ", one.job_id(), " (", one.name(), ") ", ConditionProgress(one));
  });
}

// Returns, for example, "8 CPUs, 64.0 GiB of memory per rank", or "" without requests.
std::string HostText(const v1::ResourcesSpec& resources) {
  std::vector<std::string> parts;
  const int cpus = resources.cpus_per_rank();
  if (cpus > 0) parts.push_back(absl::StrCat(cpus, cpus == 1 ? " CPU" : " CPUs"));
  const int64_t memory = resources.memory_per_rank();
  if (memory > 0) parts.push_back(absl::StrCat(BytesText(memory), " of memory"));
  return parts.empty() ? "" : absl::StrCat(absl::StrJoin(parts, ", "), " per rank");
}

void AddHead(const v1::Job& job, Timestamp now, std::string& text) {
  absl::StrAppend(&text, "Job ", job.id(), "  ", job.name(), "\n");
  AddLine("State", EnumText(job.state()), text);
  AddLine("User", job.user(), text);
  AddLine("About", job.spec().description(), text);
  AddLine("Resumed", ResumedText(job), text);
  if (job.cloned_from() != 0) AddLine("Cloned", absl::StrCat("from job ", job.cloned_from()), text);
  AddLine("Children", ChildrenText(job), text);
  AddLine("After", AfterText(job), text);
  AddLine("Submitted", WhenText(job.submitted_time_ms(), now), text);
  AddLine("Ended", WhenText(job.ended_time_ms(), now), text);
  AddLine("Slots",
          absl::StrCat(GangNodesText(job),
                       job.spec().resources().nodes() == 1 ? " node x " : " nodes x ",
                       job.spec().resources().slots_per_node(), " ",
                       EnumText(job.spec().resources().device())),
          text);
  AddLine("Code", CodeText(job.spec().code()), text);
  AddLine("Requests", HostText(job.spec().resources()), text);
  if (const v1::Attempt* newest = NewestAttempt(job); newest != nullptr && newest->has_layout()) {
    AddLine("Layout", absl::StrCat(GrantedText(newest->layout()), ", chosen"), text);
  }
  AddLine("Restarts",
          absl::StrCat(job.restarts(), " of ", job.spec().restart().max_restarts(), " used"), text);
  AddRollbacks(job, text);
  if (job.not_before_ms() > now) {
    AddLine("Next try", absl::StrCat("in ", ShortDuration(job.not_before_ms() - now)), text);
  }
}

void AddUsage(const v1::Ledger& ledger, std::string& text) {
  if (ledger.gpu_seconds() > 0) AddLine("GPU hours", GpuHoursText(ledger.gpu_seconds()), text);
  if (ledger.has_cost()) AddLine("Cost", CostText(ledger.cost()), text);
}

void AddSettings(const v1::Job& job, bool all, std::string& text) {
  Origins origins;
  for (const v1::Origin& origin : job.origins()) origins[origin.key()] = origin.source();
  Listing settings = SpecListing(job.spec(), origins);
  constexpr std::size_t kOriginColumn = 2;
  if (!all) {
    std::erase_if(settings.rows,
                  [](const Row& row) { return row.cells[kOriginColumn] == "default"; });
  }
  AddTable(all ? "Settings" : "Non-default settings (-o wide shows all)", settings, text);
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

void AddLines(const char* title, const std::vector<std::string>& lines, std::string& text) {
  if (lines.empty()) return;
  absl::StrAppend(&text, "  ", title, ":\n");
  for (const std::string& line : lines) absl::StrAppend(&text, "    ", OneLine(line), "\n");
}

}  // namespace

std::string DescribeText(const v1::GetJobResponse& response, const DescribeOptions& options,
                         Timestamp now) {
  const v1::Job& job = response.job();
  std::string text;
  AddHead(job, now, text);
  AddTimeLimit(job, text);
  AddUsage(response.ledger(), text);
  AddHealth(job.health(), now, text);
  // If the job's health is worse than healed, the first finding states the reason. The pending
  // reason is then omitted.
  if (job.health().word() <= v1::HEALTH_WORD_HEALED) AddPending(response.pending(), text);
  AddProgress(job, now, text);
  AddAttempts(response, options.attempt, now, text);
  if (const v1::Attempt* shown = ShownAttempt(job, options.attempt)) {
    absl::StrAppend(&text, "\nRanks of attempt ", shown->number(), "\n",
                    RanksText(shown->ranks(), response.node_names()));
    // For the last attempt, the job's verdict is shown, because that verdict also states why no
    // further attempt follows.
    const bool is_last = shown->number() == job.attempts().rbegin()->number();
    const v1::Verdict& verdict = is_last && job.has_verdict() ? job.verdict() : shown->verdict();
    if (shown->has_verdict() && verdict.cause() != v1::VERDICT_CAUSE_COMPLETED) {
      absl::StrAppend(&text, "\nVerdict\n", VerdictText(verdict, response.node_names()));
    }
  } else if (job.state() == v1::JOB_STATE_FAILED && job.attempts().empty()) {
    // A job named in `after` did not succeed.
    absl::StrAppend(&text, "\nVerdict\n", VerdictText(job.verdict(), response.node_names()));
  }
  absl::StrAppend(&text, EnvironmentText(job.environment()));
  AddTable("Checkpoints", CheckpointListing(job, false, now), text);
  AddTable("Notes", NoteListing(job, now), text);
  AddTree("Lineage", LineageTree(options.lineage), text);
  AddTable("Data sets", DataSetListing(options.data), text);
  AddSettings(job, options.all_settings, text);
  if (response.events_size() > 0) absl::StrAppend(&text, "\nEvents\n");
  for (const v1::Event& event : response.events()) {
    absl::StrAppend(&text, "  ", IsoTime(event.time_ms()), "  ", event.actor(), ": ",
                    OneLine(EventText(event, response.node_names())), "\n");
  }
  return text;
}

std::string VerdictText(const v1::Verdict& verdict, const NodeNames& names) {
  std::string text;
  AddLine("Cause", EnumText(verdict.cause()), text);
  AddLine("Summary", verdict.summary(), text);
  if (verdict.rank() >= 0 && names.contains(verdict.node_id())) {
    AddLine("At fault",
            absl::StrCat("rank ", verdict.rank(), " on ", NodeName(verdict.node_id(), names)),
            text);
  }
  const bool failed = verdict.cause() != v1::VERDICT_CAUSE_COMPLETED &&
                      verdict.cause() != v1::VERDICT_CAUSE_STOPPED &&
                      verdict.cause() != v1::VERDICT_CAUSE_TIME_LIMIT;
  if (failed) {
    AddLine(
        "Retry",
        verdict.restartable() ? "another attempt can succeed" : "another attempt would fail again",
        text);
  }
  AddLines("Threads when the rank stalled", LinesOf(verdict.stacks()), text);
  std::vector<std::string> lines = LinesOf(verdict.log_tail());
  if (lines.size() > kLogTailLines) lines.erase(lines.begin(), lines.end() - kLogTailLines);
  AddLines("Last output", lines, text);
  return text;
}

}  // namespace trainyard::cli
