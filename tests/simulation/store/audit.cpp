#include "tests/simulation/store/audit.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "controller/core/apply/apply.h"
#include "controller/core/event_log/event_job.h"
#include "controller/store/leader/leader_rule.h"
#include "proto/contract/leader_term.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::simulation {

void Audit::Fail(std::string text) {
  if (failure_.empty()) failure_ = std::move(text);
}

void Audit::Committed(int64_t writer_term, int64_t row_term, uint64_t first_sequence,
                      const AppendedBatch& batch) {
  ++commits_;
  if (writer_term != row_term) {
    Fail(absl::StrCat("term ", writer_term, " appends while term ", row_term, " leads"));
  }
  if (first_sequence != last_sequence_ + 1) {
    Fail(absl::StrCat("event ", first_sequence, " follows event ", last_sequence_));
  }
  for (const controller::LogRecord& record : batch.records) {
    v1::Event event;
    if (!event.ParseFromString(record.payload)) return Fail("an event cannot be read back");
    const int64_t term = TermOfField(event.leader_term());
    ++last_sequence_;
    if (term != std::max(writer_term, kFirstTerm)) {
      Fail(absl::StrCat("event ", last_sequence_, " names term ", term, ", but term ", writer_term,
                        " wrote it"));
    }
    if (term < newest_term_ && !restored_) {
      Fail(absl::StrCat("event ", last_sequence_, " of term ", term, " after term ", newest_term_));
    }
    newest_term_ = term;
    Learn(event);
  }
}

void Audit::Learn(const v1::Event& event) {
  controller::Apply(event, state_);
  if (event.has_facts_received()) {
    uint64_t& newest = facts_[event.facts_received().node_id()];
    if (event.facts_received().fact_sequence() != newest + 1) {
      Fail(absl::StrCat("fact ", event.facts_received().fact_sequence(), " of ",
                        event.facts_received().node_id(), " follows fact ", newest));
    }
    newest = event.facts_received().fact_sequence();
  }
  if (controller::JobIdOf(event) != 0) LearnJob(event);
}

void Audit::LearnJob(const v1::Event& event) {
  const int64_t job_id = controller::JobIdOf(event);
  if (event.has_job_submitted()) {
    const std::string& request_id = event.job_submitted().request_id();
    std::set<int64_t>& jobs = jobs_[request_id];
    jobs.insert(job_id);
    if (jobs.size() > 1) Fail(absl::StrCat("request ", request_id, " was appended twice"));
  }
  if (event.has_job_placed()) placed_.insert({job_id, event.job_placed().attempt()});
  if (event.has_job_stop_requested() || event.has_job_ended()) ending_.insert(job_id);
  if (event.has_attempt_failed() || event.has_attempt_ended()) ending_.insert(job_id);
  const bool stops_at_once = event.has_job_ended() && !stops_.contains(job_id) &&
                             event.job_ended().state() == v1::JOB_STATE_STOPPED;
  if (!event.has_job_stop_requested() && !stops_at_once) return;
  if (++stops_[job_id] > 1) Fail(absl::StrCat("the stop of job ", job_id, " was appended twice"));
}

void Audit::TermBegan(int64_t term, const std::string& holder) {
  highest_term_ = std::max(highest_term_, term);
  const auto [found, is_new] = holders_.emplace(term, holder);
  if (!is_new && !restored_) {
    Fail(absl::StrCat("term ", term, " begins again: ", found->second, ", then ", holder));
  }
}

void Audit::SnapshotReplaced(int64_t writer_term, int64_t row_term, uint64_t replaced_sequence,
                             const v1::Snapshot& snapshot) {
  if (writer_term != row_term) {
    Fail(absl::StrCat("term ", writer_term, " writes a snapshot while term ", row_term, " leads"));
  }
  if (snapshot.last_sequence() < replaced_sequence) {
    Fail(absl::StrCat("a snapshot of event ", snapshot.last_sequence(), " replaces one of event ",
                      replaced_sequence));
  }
  if (snapshot.last_sequence() > last_sequence_) {
    Fail(absl::StrCat("a snapshot of event ", snapshot.last_sequence(), " of a log of ",
                      last_sequence_, " events"));
  }
}

void Audit::LeaderSessionEnded(int64_t unrenewed_ms) {
  if (unrenewed_ms >= controller::kTakeOverAfterMs) return;
  Fail(absl::StrCat("a candidate ends the session of a leader that renewed its row ", unrenewed_ms,
                    " ms ago"));
}

void Audit::Restored(controller::MemoryEventLog& log) {
  restored_ = true;
  // An answer to an earlier commit may still arrive.
  for (const auto& [request, ids] : jobs_) lost_jobs_[request].insert(ids.begin(), ids.end());
  for (const auto& [job_id, count] : stops_) lost_stops_.insert(job_id);
  state_ = {};
  last_sequence_ = 0;
  jobs_.clear();
  stops_.clear();
  facts_.clear();
  placed_.clear();
  ending_.clear();
  const std::vector<v1::EventEntry> entries = log.ReadEventsAfter(0, 1'000'000).value();
  for (const v1::EventEntry& entry : entries) {
    last_sequence_ = entry.sequence();
    newest_term_ = TermOfField(entry.event().leader_term());
    Learn(entry.event());
  }
}

void Audit::CheckState(const controller::ClusterState& state, uint64_t last_sequence) {
  if (last_sequence != last_sequence_) return;
  if (controller::Bytes(state) != controller::Bytes(state_)) {
    Fail(absl::StrCat("another state than that of the log at event ", last_sequence));
  }
}

void Audit::CheckAnswers(int64_t term, int64_t row_term) {
  if (term == row_term || restored_) return;
  Fail(absl::StrCat("the controller of term ", term, " answers while term ", row_term, " leads"));
}

void Audit::CheckSubmitted(const std::string& request_id, int64_t job_id) {
  for (const auto* jobs : {&jobs_, &lost_jobs_}) {
    const auto found = jobs->find(request_id);
    if (found != jobs->end() && found->second.contains(job_id)) return;
  }
  Fail(absl::StrCat("request ", request_id, " is acknowledged as job ", job_id,
                    ", but the log does not contain it"));
}

void Audit::CheckStopped(int64_t job_id) {
  if (stops_.contains(job_id) || lost_stops_.contains(job_id)) return;
  Fail(absl::StrCat("the stop of job ", job_id, " is acknowledged, but the log does not have it"));
}

void Audit::CheckMessage(const std::string& node_id, const v1::ControllerMessage& message,
                         bool decided) {
  const std::string text = message.ShortDebugString();
  if (decided) Fail(absl::StrCat("sent before the commit to ", node_id, ": ", text));
  if (message.has_start_attempt()) {
    const v1::StartAttempt& start = message.start_attempt();
    if (!placed_.contains({start.job_id(), start.attempt()}) && !restored_) {
      Fail(absl::StrCat("sent to ", node_id, ", but not placed: ", text));
    }
  } else if (message.has_stop_attempt()) {
    if (!ending_.contains(message.stop_attempt().job_id()) && !restored_) {
      Fail(absl::StrCat("sent to ", node_id, ", but not ending: ", text));
    }
  } else if (message.has_facts_acknowledged() || message.has_welcome()) {
    const uint64_t fact = message.has_welcome() ? message.welcome().fact_sequence()
                                                : message.facts_acknowledged().fact_sequence();
    if (fact > facts_[node_id] && !restored_) {
      Fail(absl::StrCat("sent to ", node_id, ", but not committed: ", text));
    }
  }
}

void Audit::CheckObeyed(const std::string& node_id, const v1::ControllerMessage& message) {
  const int64_t term = TermOfField(message.leader_term());
  int64_t& highest = obeyed_[node_id];
  if (term < highest) {
    Fail(absl::StrCat(node_id, " obeys term ", term, " after term ", highest, ": ",
                      message.ShortDebugString()));
  }
  highest = std::max(highest, term);
}

}  // namespace trainyard::simulation
