#include "cli/output/jobs/event_text.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "cli/output/jobs/environment_view.h"
#include "cli/output/jobs/note_views.h"
#include "cli/output/terminal/readable.h"
#include "proto/jobspec/fields/auto_layout.h"
#include "proto/json/enum_text.h"
#include "proto/json/message_json.h"
#include "proto/text/duration_text.h"

namespace trainyard::cli {
namespace {

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
      placed.has_layout() ? absl::StrCat(", layout ", GrantedText(placed.layout())) : "",
      placed.size_change().empty() ? "" : absl::StrCat("; ", placed.size_change()));
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

// Returns, for example, "3.00e-4".
std::string RateText(double rate) {
  return absl::StrReplaceAll(absl::StrFormat("%.2e", rate), {{"e-0", "e-"}, {"e+0", "e+"}});
}

std::string RateChangeText(const v1::LearningRateChange& change) {
  return absl::StrCat("learning rate changed at the resume from step ", change.step(), ": ",
                      RateText(change.before()), " before, ", RateText(change.after()), " after");
}

// Text of AttemptRunning, AttemptBegan, LearningRateChanged, StallEnded, TrainingTimeLost and
// TimeLimitWarned.
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
  if (event.has_time_limit_warned()) {
    return absl::StrCat("warned attempt ", event.time_limit_warned().attempt(),
                        " of its time limit");
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
  if (event.has_job_moved()) {
    return absl::StrCat("moved to queue ", event.job_moved().queue(), " with priority ",
                        event.job_moved().priority());
  }
  if (event.has_job_extended()) {
    return absl::StrCat("time limit extended by ", DurationText(event.job_extended().by_ms()));
  }
  if (event.job_stop_requested().halved()) return "stopped by the halving of its array";
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

std::string NodeName(const std::string& id, const NodeNames& names) {
  const auto name = names.find(id);
  return name == names.end() ? id : name->second;
}

namespace {

std::string ClearedText(const v1::AttemptCleared& cleared, const NodeNames& names) {
  return absl::StrCat("node ", NodeName(cleared.node_id(), names), " confirmed that attempt ",
                      cleared.attempt(), " has ended there");
}

// Text of AttemptYielded, TimeLimitReached and AttemptEnded.
std::string AttemptEndText(const v1::Event& event) {
  if (event.has_time_limit_reached()) {
    return absl::StrCat("attempt ", event.time_limit_reached().attempt(),
                        " reached the time limit; its ranks save and exit");
  }
  if (event.has_attempt_yielded()) {
    return absl::StrCat("attempt ", event.attempt_yielded().attempt(),
                        " yields its slots: ", event.attempt_yielded().yield().reason());
  }
  return absl::StrCat("attempt ", event.attempt_ended().attempt(), " ended",
                      AfterUnlessEmpty(" at step ", event.attempt_ended().last_step()));
}

std::string RemovedText(const v1::NodeRemoved& removed) {
  return absl::StrCat("node ", removed.name(), " removed",
                      AfterUnlessEmpty(": ", removed.reason()));
}

std::string LayoutText(const v1::GrantedLayout& layout) {
  return absl::StrCat(layout.nodes() > 0 ? "layout chosen: " : "", GrantedText(layout));
}

std::string AlertText(const v1::AlertRaised& raised) {
  return absl::StrCat("alert ", raised.code(), AfterUnlessEmpty(" at step ", raised.step()), ": ",
                      raised.message());
}

std::string HalvedText(const v1::ArrayRung& rung) {
  return absl::StrCat("element ", rung.index(), " ranks ", rung.rank(), " of ", rung.compared(),
                      " at step ", rung.step(), rung.stopped() ? " and is stopped" : "");
}

std::string ExecText(const v1::ExecOpened& opened, const NodeNames& names) {
  const std::string beside =
      absl::StrCat("beside rank ", opened.rank(), " of attempt ", opened.attempt(), " on node ",
                   NodeName(opened.node_id(), names));
  if (opened.command().empty()) return absl::StrCat("opened a shell ", beside);
  return absl::StrCat("ran `", opened.command(), "` ", beside);
}

// Text of events of arrays, of nodes, of the controllers, and of types that newer controllers
// write.
std::string OtherText(const v1::Event& event, const NodeNames& names) {
  if (event.has_environment_recorded()) {
    const v1::EnvironmentRecord& record = event.environment_recorded().environment();
    return absl::StrCat("attempt ", record.attempt(), " runs with ", EnvironmentSummary(record));
  }
  if (event.has_leadership_handed_over()) {
    return absl::StrCat("leadership handed over from ", event.leadership_handed_over().from(),
                        " to ", event.leadership_handed_over().to());
  }
  if (event.has_exec_opened()) return ExecText(event.exec_opened(), names);
  if (event.has_array_halved()) return HalvedText(event.array_halved().rung());
  if (event.has_array_element_refused()) {
    const v1::ArrayElementRefused& refused = event.array_element_refused();
    return absl::StrCat("element ", refused.index(), " could not start: ", refused.reason());
  }
  return absl::StrReplaceAll(DumpJson(MessageToJson(event), -1), {{"\"", ""}});
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
    case v1::Event::kTimeLimitWarned:
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
      return ClearedText(event.attempt_cleared(), names);
    case v1::Event::kAttemptYielded:
    case v1::Event::kTimeLimitReached:
    case v1::Event::kAttemptEnded:
      return AttemptEndText(event);
    case v1::Event::kJobStopRequested:
    case v1::Event::kJobPaused:
    case v1::Event::kJobResumed:
    case v1::Event::kJobMoved:
    case v1::Event::kJobExtended:
      return RequestText(event);
    case v1::Event::kJobEnded:
    case v1::Event::kJobArchived:
    case v1::Event::kJobDeleted:
      return EndText(event);
    case v1::Event::kEventsLost:
    case v1::Event::kStoreDataLost:
      return LostDataText(event);
    case v1::Event::kNodeRemoved:
      return RemovedText(event.node_removed());
    case v1::Event::kCheckpointPublished:
    case v1::Event::kCheckpointDeleted:
    case v1::Event::kCheckpointRejected:
      return CheckpointText(event);
    case v1::Event::kNoteWritten:
    case v1::Event::kNoteDeleted:
      return NoteText(event);
    case v1::Event::kLayoutChosen:
      return LayoutText(event.layout_chosen().layout());
    case v1::Event::kAlertRaised:
      return AlertText(event.alert_raised());
    default:
      return OtherText(event, names);
  }
}

}  // namespace trainyard::cli
