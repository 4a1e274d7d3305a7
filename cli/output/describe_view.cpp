// The longer texts declared in job_views.h: for `describe`, events and verdicts.
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "cli/output/freshness.h"
#include "cli/output/health_view.h"
#include "cli/output/job_views.h"
#include "cli/output/lineage_view.h"
#include "cli/output/note_views.h"
#include "cli/output/readable.h"
#include "cli/output/usage_text.h"
#include "proto/jobspec/auto_layout.h"
#include "proto/json/enum_text.h"
#include "proto/json/message_json.h"
#include "proto/support/gang_size.h"
#include "proto/text/duration_text.h"

namespace trainyard::cli {
namespace {

// The number of lines that `describe` and `why` show of the output of the rank that failed. `logs`
// shows all of it.
constexpr std::size_t kLogTailLines = 20;

std::string NodeName(const std::string& id, const NodeNames& names) {
  const auto name = names.find(id);
  return name == names.end() ? id : name->second;
}

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

// Adds the findings about a job that is not well, and the steps that a kill would lose.
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

std::string WhenText(Timestamp time_ms, Timestamp now) {
  return time_ms == 0 ? "" : absl::StrCat(IsoTime(time_ms), " (", AgoText(time_ms, now), ")");
}

// Adds the rate and the remaining time, which is computed from the rate. An outdated rate is
// labelled as outdated, and the remaining time is then left out.
void AddSpeed(const v1::Job& job, Timestamp now, std::string& text) {
  const v1::Progress& progress = job.progress();
  std::vector<std::string> parts;
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

void AddProgress(const v1::Job& job, Timestamp now, std::string& text) {
  const v1::Progress& progress = job.progress();
  if (progress.step() == 0) return;
  absl::StrAppend(&text, "\nProgress\n");
  AddLine("Step",
          absl::StrCat(progress.step(), progress.total_steps() > 0 ? " of " : "",
                       progress.total_steps() > 0 ? absl::StrCat(progress.total_steps()) : ""),
          text);
  if (progress.loss() != 0) AddLine("Loss", LossText(progress), text);
  const std::vector<std::string> evaluations = EvaluationTexts(progress);
  if (!evaluations.empty()) AddLine("Evaluation", absl::StrJoin(evaluations, ", "), text);
  AddSpeed(job, now, text);
  AddLine("Reported", AgoText(progress.time_ms(), now), text);
}

// Returns the step from which the attempt started. The reports of the attempt are more precise than
// its checkpoint.
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

void AddHead(const v1::Job& job, Timestamp now, std::string& text) {
  absl::StrAppend(&text, "Job ", job.id(), "  ", job.name(), "\n");
  AddLine("State", EnumText(job.state()), text);
  AddLine("User", job.user(), text);
  AddLine("About", job.spec().description(), text);
  AddLine("Resumed", ResumedText(job), text);
  if (job.cloned_from() != 0) AddLine("Cloned", absl::StrCat("from job ", job.cloned_from()), text);
  AddLine("Children", ChildrenText(job), text);
  AddLine("Submitted", WhenText(job.submitted_time_ms(), now), text);
  AddLine("Ended", WhenText(job.ended_time_ms(), now), text);
  AddLine("Slots",
          absl::StrCat(job.spec().resources().nodes(), " nodes x ",
                       job.spec().resources().slots_per_node(), " ",
                       EnumText(job.spec().resources().device())),
          text);
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

// Returns the step from which the attempt starts. The step of a checkpoint of another program is
// not known, so the path is returned instead.
std::string StartOf(const v1::JobPlaced& placed) {
  if (placed.resume_from().empty()) return ", fresh start";
  if (placed.resume_step() > 0) return absl::StrCat(", from step ", placed.resume_step());
  return absl::StrCat(", from the checkpoint ", placed.resume_from());
}

std::string PlaceText(const v1::JobPlaced& placed) {
  std::map<std::string, int> nodes;
  for (const v1::RankPlacement& rank : placed.ranks()) ++nodes[rank.node_id()];
  return absl::StrCat(
      "attempt ", placed.attempt(), " placed: ", placed.ranks_size(), " ranks on ", nodes.size(),
      nodes.size() == 1 ? " node" : " nodes", StartOf(placed),
      placed.skip_samples().empty() ? "" : absl::StrCat(", skips samples ", placed.skip_samples()),
      placed.has_layout() ? absl::StrCat(", layout ", GrantedText(placed.layout())) : "");
}

// Returns `words` followed by the step or text; "" if the step is 0 or the text is empty.
std::string AfterUnlessEmpty(const char* words, int64_t step) {
  return step == 0 ? "" : absl::StrCat(words, step);
}
std::string AfterUnlessEmpty(const char* words, const std::string& text) {
  return text.empty() ? "" : absl::StrCat(words, text);
}

std::string ExitText(const v1::RankExited& exited) {
  const std::string rank = absl::StrCat("rank ", exited.rank(), " of attempt ", exited.attempt());
  if (!exited.spawn_error().empty()) {
    return absl::StrCat(rank, " could not be started: ", exited.spawn_error());
  }
  if (!exited.limit_exceeded().empty()) {
    return absl::StrCat(rank, " was stopped by its node: ", exited.limit_exceeded());
  }
  if (exited.out_of_memory()) return rank + " was killed: out of memory";
  const char* const request = exited.stop_requested() ? " after the stop request" : "";
  if (exited.signal() != 0) {
    return absl::StrCat(rank, " ended by signal ", exited.signal(), request);
  }
  return absl::StrCat(rank, " exited with ", exited.exit_code(), request);
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
  AddUsage(response.ledger(), text);
  AddHealth(job.health(), now, text);
  // The reason of a job that is not well is its first finding.
  if (job.health().word() <= v1::HEALTH_WORD_HEALED) AddPending(response.pending(), text);
  AddProgress(job, now, text);
  AddAttempts(response, options.attempt, now, text);
  if (const v1::Attempt* shown = ShownAttempt(job, options.attempt)) {
    absl::StrAppend(&text, "\nRanks of attempt ", shown->number(), "\n",
                    RanksText(shown->ranks(), response.node_names()));
    // For the last attempt, the job's verdict is shown, because it also states why no further
    // attempt follows.
    const bool is_last = shown->number() == job.attempts().rbegin()->number();
    const v1::Verdict& verdict = is_last && job.has_verdict() ? job.verdict() : shown->verdict();
    if (shown->has_verdict() && verdict.cause() != v1::VERDICT_CAUSE_COMPLETED) {
      absl::StrAppend(&text, "\nVerdict\n", VerdictText(verdict, response.node_names()));
    }
  }
  AddTable("Checkpoints", CheckpointListing(job, false, now), text);
  AddTable("Notes", NoteListing(job, now), text);
  AddTree("Lineage", LineageTree(options.lineage), text);
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
                      verdict.cause() != v1::VERDICT_CAUSE_STOPPED;
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

namespace {

// Returns, for example, "3.00e-4".
std::string RateText(double rate) {
  return absl::StrReplaceAll(absl::StrFormat("%.2e", rate), {{"e-0", "e-"}, {"e+0", "e+"}});
}

std::string RateChangeText(const v1::LearningRateChange& change) {
  return absl::StrCat("learning rate changed at the resume from step ", change.step(), ": ",
                      RateText(change.before()), " before, ", RateText(change.after()), " after");
}

// Text of AttemptRunning, AttemptBegan, LearningRateChanged, StallEnded and TrainingTimeLost.
std::string RunsText(const v1::Event& event) {
  if (event.has_attempt_running()) {
    return absl::StrCat("attempt ", event.attempt_running().attempt(), " is running",
                        AfterUnlessEmpty(" from step ", event.attempt_running().resume_step()));
  }
  if (event.has_learning_rate_changed()) {
    return RateChangeText(event.learning_rate_changed().change());
  }
  if (event.has_stall_ended()) {
    const v1::StallEnded& stall = event.stall_ended();
    return absl::StrCat("the gang makes progress again after a stall of ",
                        DurationText(stall.until_ms() - stall.since_ms()));
  }
  if (event.has_training_time_lost()) {
    const v1::TrainingTimeLost& lost = event.training_time_lost();
    return absl::StrCat(DurationText(lost.lost_ms()), " of training lost while the run was ",
                        lost.phase() == v1::LEDGER_PHASE_SLOW ? "slow" : "diverging");
  }
  return absl::StrCat("attempt ", event.attempt_began().attempt(), " started at step ",
                      event.attempt_began().first_step());
}

// Text of AttemptFailed and AttemptRolledBack.
std::string StoppedText(const v1::Event& event) {
  if (event.has_attempt_failed()) {
    return absl::StrCat("attempt ", event.attempt_failed().attempt(),
                        " failed: ", event.attempt_failed().verdict().summary());
  }
  return absl::StrCat("attempt ", event.attempt_rolled_back().attempt(),
                      " rolled back: ", event.attempt_rolled_back().verdict().summary());
}

// Text of AttemptHealing and AttemptHealed.
std::string HealText(const v1::Event& event) {
  if (event.has_attempt_healed()) {
    const v1::AttemptHealed& healed = event.attempt_healed();
    return absl::StrCat("attempt ", healed.attempt(), " healed in ",
                        ShortDuration(healed.heal_ms()), ": generation ", healed.generation(),
                        " at step ", healed.step(), ", ", healed.lost_steps(),
                        healed.lost_steps() == 1 ? " step" : " steps", " redone");
  }
  const v1::AttemptHealing& healing = event.attempt_healing();
  return absl::StrCat("attempt ", healing.attempt(), " is healing in place with ",
                      healing.seats_size(),
                      healing.seats_size() == 1 ? " spare rank" : " spare ranks", " (generation ",
                      healing.generation(), "): ", healing.verdict().summary());
}

std::string StartText(const v1::RankStarted& started) {
  return absl::StrCat("rank ", started.rank(), " of attempt ", started.attempt(), " started, pid ",
                      started.pid());
}

// Text of an event in which a user requested a change of the job.
std::string RequestText(const v1::Event& event) {
  if (event.has_job_paused()) {
    const std::string& reason = event.job_paused().reason();
    return reason.empty() ? "pause requested" : absl::StrCat("paused: ", reason);
  }
  if (event.has_job_resumed()) return "resumed";
  return event.job_stop_requested().kill() ? "kill requested" : "stop requested";
}

// Text of JobEnded, JobArchived and JobDeleted.
std::string EndText(const v1::Event& event) {
  if (event.has_job_archived()) return "moved to the archive";
  if (event.has_job_deleted()) {
    return absl::StrCat("job ", event.job_deleted().job_id(), " (", event.job_deleted().name(),
                        ") deleted");
  }
  return absl::StrCat("job ", EnumText(event.job_ended().state()), ": ",
                      event.job_ended().verdict().summary());
}

// Text of NoteWritten and NoteDeleted.
std::string NoteText(const v1::Event& event) {
  if (event.has_note_deleted()) {
    return absl::StrCat("note ", event.note_deleted().note_id(), " on step ",
                        event.note_deleted().step(), " deleted");
  }
  return absl::StrCat("note on step ", event.note_written().step(), ": ",
                      event.note_written().text());
}

std::string CheckpointText(const v1::Event& event) {
  if (event.has_checkpoint_rejected()) {
    return absl::StrCat("checkpoint ", event.checkpoint_rejected().path(),
                        " rejected: ", event.checkpoint_rejected().reason());
  }
  if (event.has_checkpoint_deleted()) {
    return absl::StrCat("checkpoint of step ", event.checkpoint_deleted().step(), " deleted");
  }
  return absl::StrCat("checkpoint of step ", event.checkpoint_published().checkpoint().step(),
                      " published");
}

// Text of an event that reports lost data: the event log, or a store next to it, is an older copy.
std::string LostDataText(const v1::Event& event) {
  if (event.has_store_data_lost()) {
    return absl::StrCat(event.store_data_lost().store(),
                        ".db has lost data: ", event.store_data_lost().reason());
  }
  return absl::StrCat("the event log has lost events: ", event.events_lost().seen_by(),
                      " recorded event ", event.events_lost().mark().sequence(),
                      ", but the log ends at ", event.events_lost().last_sequence());
}

}  // namespace

std::string EventText(const v1::Event& event, const NodeNames& names) {
  switch (event.kind_case()) {
    case v1::Event::kJobSubmitted:
      return "submitted";
    case v1::Event::kJobPlaced:
      return PlaceText(event.job_placed());
    case v1::Event::kRankStarted:
      return StartText(event.rank_started());
    case v1::Event::kRankExited:
      return ExitText(event.rank_exited());
    case v1::Event::kAttemptRunning:
    case v1::Event::kAttemptBegan:
    case v1::Event::kLearningRateChanged:
    case v1::Event::kStallEnded:
    case v1::Event::kTrainingTimeLost:
      return RunsText(event);
    case v1::Event::kAttemptFailed:
    case v1::Event::kAttemptRolledBack:
      return StoppedText(event);
    case v1::Event::kAttemptHealing:
    case v1::Event::kAttemptHealed:
      return HealText(event);
    case v1::Event::kAttemptCleared:
      return absl::StrCat("node ", NodeName(event.attempt_cleared().node_id(), names),
                          " confirmed that attempt ", event.attempt_cleared().attempt(),
                          " has ended there");
    case v1::Event::kAttemptEnded:
      return absl::StrCat("attempt ", event.attempt_ended().attempt(), " ended",
                          AfterUnlessEmpty(" at step ", event.attempt_ended().last_step()));
    case v1::Event::kJobStopRequested:
    case v1::Event::kJobPaused:
    case v1::Event::kJobResumed:
      return RequestText(event);
    case v1::Event::kJobEnded:
    case v1::Event::kJobArchived:
    case v1::Event::kJobDeleted:
      return EndText(event);
    case v1::Event::kEventsLost:
    case v1::Event::kStoreDataLost:
      return LostDataText(event);
    case v1::Event::kNodeRemoved:
      return absl::StrCat("node ", event.node_removed().name(), " removed",
                          AfterUnlessEmpty(": ", event.node_removed().reason()));
    case v1::Event::kCheckpointPublished:
    case v1::Event::kCheckpointDeleted:
    case v1::Event::kCheckpointRejected:
      return CheckpointText(event);
    case v1::Event::kNoteWritten:
    case v1::Event::kNoteDeleted:
      return NoteText(event);
    case v1::Event::kLayoutChosen:
      return absl::StrCat(event.layout_chosen().layout().nodes() > 0 ? "layout chosen: " : "",
                          GrantedText(event.layout_chosen().layout()));
    case v1::Event::kAlertRaised:
      return absl::StrCat("alert ", event.alert_raised().code(), " at step ",
                          event.alert_raised().step(), ": ", event.alert_raised().message());
    default:
      // The default, for node events and for event types of newer controllers.
      return absl::StrReplaceAll(DumpJson(MessageToJson(event), -1), {{"\"", ""}});
  }
}

}  // namespace trainyard::cli
