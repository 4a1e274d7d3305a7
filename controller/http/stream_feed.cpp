#include "controller/http/stream_feed.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "controller/access/gate.h"
#include "controller/api/cluster/cluster_handlers.h"
#include "controller/api/jobs/job_handlers.h"
#include "controller/api/jobs/job_list.h"
#include "controller/api/jobs/job_view.h"
#include "controller/core/archive.h"
#include "controller/core/event_log/event_job.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/explain/job_health.h"
#include "controller/core/explain/pending_reason.h"
#include "controller/core/support/wait.h"
#include "controller/http/feed_messages.h"
#include "proto/json/json_text.h"
#include "proto/support/freshness.h"
#include "proto/support/job_state.h"

namespace trainyard::controller::http {
namespace {

constexpr std::size_t kMaxTopics = 64;
// The number of recent events kept for resuming streams. A stream that missed more events gets
// snapshots instead.
constexpr std::size_t kEventsKept = 4096;
constexpr int kEventsInSnapshot = 100;
constexpr int64_t kProgressIntervalMs = 1000;

// Returns the job of a topic of this kind, such as 17 for "job:17". Returns 0 for other topics.
int64_t JobOfTopic(const std::string& topic, std::string_view kind) {
  const std::vector<std::string> parts = absl::StrSplit(topic, ':');
  int64_t id = 0;
  if (parts.size() != 2 || parts[0] != kind || !absl::SimpleAtoi(parts[1], &id)) return 0;
  return std::max<int64_t>(id, 0);
}

bool IsTopic(const std::string& name) {
  if (name == "jobs" || name == "nodes" || name == "events") return true;
  return JobOfTopic(name, "job") > 0 || JobOfTopic(name, "metrics") > 0 ||
         JobOfTopic(name, "logs") > 0;
}

// Returns the jobs of all topics "job:ID".
std::set<int64_t> JobsOfTopics(const Topics& topics) {
  std::set<int64_t> jobs;
  for (const std::string& topic : topics) {
    if (const int64_t id = JobOfTopic(topic, "job"); id > 0) jobs.insert(id);
  }
  return jobs;
}

std::string Frame(const char* name, uint64_t revision, const google::protobuf::Message& message) {
  return absl::StrCat("event: ", name, "\nid: ", revision, "\ndata: ", JsonText(message), "\n\n");
}

// Reads the given jobs from the archive. Omits jobs that cannot be read. Call on a reader thread.
std::map<int64_t, JobEntry> ReadArchived(const std::set<int64_t>& jobs, JobArchive& archive) {
  std::map<int64_t, JobEntry> entries;
  for (const int64_t id : jobs) {
    auto found = archive.Find(id);
    if (found.ok() && found->has_value()) entries[id] = FromArchived(**std::move(found));
  }
  return entries;
}

}  // namespace

absl::StatusOr<Topics> ParseTopics(const std::vector<std::string>& names) {
  if (names.empty()) return Topics{"jobs", "nodes", "events"};
  if (names.size() > kMaxTopics) {
    return absl::InvalidArgumentError(absl::StrCat("topics: at most ", kMaxTopics));
  }
  Topics topics;
  for (const std::string& name : names) {
    if (!IsTopic(name)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "topics: `", name,
          "` is not a topic; the topics are jobs, nodes, events, job:NUMBER, metrics:NUMBER and "
          "logs:NUMBER"));
    }
    topics.insert(name);
  }
  return topics;
}

namespace {

// Adds the job's spec to a submission event, if the job is still in the state. The feed stores
// submission events without the spec (TickSummary), because most bytes of an event are the spec.
void AddSpec(const ClusterState& state, v1::JobSubmitted& submitted) {
  const JobEntry* entry = FindEntry(state, submitted.job_id());
  if (entry != nullptr) *submitted.mutable_spec() = entry->job.spec();
}

// Returns a key that changes when the job's health changes, or when its rate becomes current or out
// of date.
std::string HealthKey(const JobEntry& entry, const ClusterView& view) {
  v1::JobHealth health = HealthOf(view.state, view.observations, entry, view.now);
  health.clear_steps_at_risk();
  health.clear_at_risk_since_ms();
  const auto progress = view.observations.progress.find(entry.job.id());
  const bool is_fresh =
      progress != view.observations.progress.end() &&
      IsFresh(view.now - progress->second.time_ms(), progress->second.step_seconds());
  return absl::StrCat(health.SerializeAsString(), is_fresh ? "fresh" : "old");
}

}  // namespace

struct StreamFeed::Collector {
  // The progress of a live job that was sent last.
  struct Sent {
    int64_t progress_ms = 0;
    int64_t step = 0;
    Timestamp at = 0;
  };

  // The newest events, oldest first.
  std::deque<v1::EventEntry> events;
  std::map<int64_t, Sent> sent;
  // The time at which points of a job were last announced, by job.
  std::map<int64_t, Timestamp> points_sent;
  // The last pending reason that was sent for each job, serialized, and the time at which the
  // reasons were last computed.
  std::map<int64_t, std::string> sent_reasons;
  Timestamp reasons_read = 0;
  // The last HealthKey that was sent for each live job, and the time at which the keys were last
  // computed.
  std::map<int64_t, std::string> sent_health;
  Timestamp health_read = 0;

  void Keep(const ClusterView& view, const TickSummary& summary) {
    uint64_t sequence = view.revision - summary.events.size();
    for (const v1::Event& event : summary.events) {
      v1::EventEntry& entry = events.emplace_back();
      entry.set_sequence(++sequence);
      *entry.mutable_event() = event;
    }
    while (events.size() > kEventsKept) events.pop_front();
  }

  // Returns true if `events` contains every event after this revision.
  bool CanResume(uint64_t revision, const ClusterView& view) const {
    if (revision == 0 || revision > view.revision) return false;
    return revision == view.revision ||
           (!events.empty() && events.front().sequence() <= revision + 1);
  }

  std::shared_ptr<v1::EventsCommitted> EventsAfter(uint64_t revision,
                                                   const ClusterView& view) const {
    auto committed = std::make_shared<v1::EventsCommitted>();
    for (const v1::EventEntry& entry : events) {
      if (entry.sequence() <= revision) continue;
      v1::EventEntry& added = *committed->add_events() = entry;
      if (added.event().has_job_submitted()) {
        AddSpec(view.state, *added.mutable_event()->mutable_job_submitted());
      }
    }
    return committed;
  }

  // Returns the live jobs whose progress has changed and was not sent within the last
  // second.
  std::set<int64_t> TakeMoved(const ClusterView& view) {
    std::set<int64_t> moved;
    std::erase_if(sent, [&](const auto& one) { return !view.state.live_jobs.contains(one.first); });
    for (const int64_t id : view.state.live_jobs) {
      const auto progress = view.observations.progress.find(id);
      if (progress == view.observations.progress.end()) continue;
      Sent& last = sent[id];
      const bool is_sent =
          progress->second.time_ms() == last.progress_ms && progress->second.step() == last.step;
      if (is_sent) continue;
      if (!HasPassed(last.at, last.at + kProgressIntervalMs, view.now)) continue;
      last = {progress->second.time_ms(), progress->second.step(), view.now};
      moved.insert(id);
    }
    return moved;
  }

  // Returns the live jobs whose health has changed since the last call, or whose rate is no longer
  // current. Both can change without an event. Computed at most once per second.
  std::set<int64_t> TakeChangedHealth(const ClusterView& view) {
    std::set<int64_t> changed;
    if (!HasPassed(health_read, health_read + kProgressIntervalMs, view.now)) return changed;
    health_read = view.now;
    std::map<int64_t, std::string> keys;
    for (const int64_t id : NewestLiveJobs(view.state)) {
      const std::string& now = keys[id] = HealthKey(view.state.jobs.at(id), view);
      const auto before = sent_health.find(id);
      if (before == sent_health.end() || before->second != now) changed.insert(id);
    }
    sent_health = std::move(keys);
    return changed;
  }

  // Returns the pending reasons that have changed since the last call, for the first 200 queued
  // jobs, the newest 200 jobs that wait for other jobs, and the jobs in `asked`. A job's reason can
  // change without an event of this job, because it depends on other jobs, on nodes and on time.
  // Computed at most once per second.
  std::map<int64_t, v1::PendingReason> TakeNewReasons(std::set<int64_t> asked,
                                                      const ClusterView& view) {
    std::map<int64_t, v1::PendingReason> changed;
    if (!HasPassed(reasons_read, reasons_read + kProgressIntervalMs, view.now)) return changed;
    reasons_read = view.now;
    int waiting = 0;
    for (const QueueKey& place : view.state.pending_jobs) {
      if (++waiting > kWaitingInSnapshot) break;
      asked.insert(place.job_id);
    }
    asked.merge(NewestDependentJobs(view.state));
    PendingExplainer explainer(view);
    std::map<int64_t, std::string> reasons;
    for (const int64_t id : asked) {
      const JobEntry* entry = FindEntry(view.state, id);
      if (entry == nullptr) continue;
      std::optional<v1::PendingReason> reason = WaitingReason(*entry, view, explainer);
      if (!reason.has_value()) continue;
      const std::string& now = reasons[id] = reason->SerializeAsString();
      const auto before = sent_reasons.find(id);
      if (before == sent_reasons.end() || before->second != now) changed[id] = *std::move(reason);
    }
    sent_reasons = std::move(reasons);
    return changed;
  }
};

StreamFeed::StreamFeed(const Api& api, std::function<void(std::function<void()>)> on_server)
    : api_(api), on_server_(std::move(on_server)), collector_(std::make_shared<Collector>()) {}

void StreamFeed::Start() {
  api_.loop.Read([this](const ClusterView&) {
    api_.loop.Listen([this](const ClusterView& view, const TickSummary& summary) {
      OnTick(view, summary);
      return !api_.shutdown.raised();
    });
  });
}

Topics StreamFeed::WantedTopics() {
  const std::lock_guard lock(mutex_);
  Topics topics;
  for (const auto& [topic, streams] : wanted_) topics.insert(topic);
  return topics;
}

void StreamFeed::NotifyOutput(int64_t job_id) {
  const std::lock_guard lock(mutex_);
  if (wanted_.contains(absl::StrCat("logs:", job_id))) output_of_jobs_.insert(job_id);
}

void StreamFeed::NotifyPoints(int64_t job_id, int64_t step) {
  const std::lock_guard lock(mutex_);
  if (!wanted_.contains(absl::StrCat("metrics:", job_id))) return;
  int64_t& newest = points_of_jobs_[job_id];
  newest = std::max(newest, step);
}

void StreamFeed::OnTick(const ClusterView& view, const TickSummary& summary) {
  collector_->Keep(view, summary);
  const Topics wanted = WantedTopics();
  if (wanted.empty()) return;
  Items items;
  AddJobItems(view, summary, wanted, items);
  std::set<std::string> nodes;
  for (const v1::Event& event : summary.events) AddNodesOf(event, view.state, nodes);
  if (wanted.contains("nodes") && !nodes.empty()) {
    items.push_back({"nodes", "nodes", NodesOf(&nodes, view)});
  }
  if (wanted.contains("events") && !summary.events.empty()) {
    items.push_back(
        {"events", "events", collector_->EventsAfter(view.revision - summary.events.size(), view)});
  }
  for (const auto& [id, step] : TakePoints(view.now)) {
    auto stored = std::make_shared<v1::MetricsStored>();
    stored->set_job_id(id);
    stored->set_step(step);
    items.push_back({absl::StrCat("metrics:", id), "metrics", std::move(stored)});
  }
  for (const int64_t id : TakeOutput()) {
    auto stored = std::make_shared<v1::OutputStored>();
    stored->set_job_id(id);
    items.push_back({absl::StrCat("logs:", id), "logs", std::move(stored)});
  }
  if (!items.empty()) Publish(std::move(items), view.revision);
}

void StreamFeed::AddJobItems(const ClusterView& view, const TickSummary& summary,
                             const Topics& wanted, Items& items) {
  std::set<int64_t> jobs = collector_->TakeMoved(view);
  jobs.merge(collector_->TakeChangedHealth(view));
  jobs.insert(summary.changed_jobs.begin(), summary.changed_jobs.end());
  const auto reasons = collector_->TakeNewReasons(JobsOfTopics(wanted), view);
  if (wanted.contains("jobs") && !(jobs.empty() && reasons.empty())) {
    auto changed = JobsOrSnapshot(jobs, view);
    for (const auto& [id, reason] : reasons) (*changed->mutable_pending())[id] = reason;
    for (const v1::Event& event : summary.events) AddRemoved(event, *changed);
    items.push_back({"jobs", "jobs", std::move(changed)});
  }
  for (const auto& [id, reason] : reasons) jobs.insert(id);
  for (const int64_t id : jobs) {
    const JobEntry* entry = FindEntry(view.state, id);
    const std::string topic = absl::StrCat("job:", id);
    if (entry == nullptr || !wanted.contains(topic)) continue;
    items.push_back({topic, "job", std::make_shared<v1::GetJobResponse>(JobNow(*entry, view))});
  }
}

std::set<int64_t> StreamFeed::TakeOutput() {
  const std::lock_guard lock(mutex_);
  return std::exchange(output_of_jobs_, {});
}

std::map<int64_t, int64_t> StreamFeed::TakePoints(Timestamp now) {
  std::map<int64_t, int64_t> due;
  const std::lock_guard lock(mutex_);
  std::map<int64_t, Timestamp>& sent = collector_->points_sent;
  // Remove jobs whose interval has passed. Such jobs can be announced again.
  std::erase_if(sent, [&](const auto& one) {
    return now - one.second >= kProgressIntervalMs || now < one.second;
  });
  for (auto job = points_of_jobs_.begin(); job != points_of_jobs_.end();) {
    if (!sent.try_emplace(job->first, now).second) {
      ++job;
      continue;
    }
    due.insert(*job);
    job = points_of_jobs_.erase(job);
  }
  return due;
}

void StreamFeed::Publish(Items items, uint64_t revision) {
  on_server_([this, items = std::move(items), revision] {
    std::vector<std::string> frames(items.size());
    // Most streams need the same items of a tick, so each combination of items is encoded only
    // once.
    std::map<std::vector<bool>, std::shared_ptr<const std::string>> batches;
    for (const Subscriber& subscriber : subscribers_) {
      std::vector<bool> wanted(items.size());
      for (std::size_t i = 0; i < items.size(); ++i) {
        wanted[i] = subscriber.topics.contains(items[i].topic);
      }
      std::shared_ptr<const std::string>& batch = batches[wanted];
      if (batch == nullptr) batch = BatchOf(items, wanted, revision, frames);
      if (!batch->empty()) subscriber.sink->Send(batch);
    }
    DropClosed();
  });
}

std::shared_ptr<const std::string> StreamFeed::BatchOf(const Items& items,
                                                       const std::vector<bool>& wanted,
                                                       uint64_t revision,
                                                       std::vector<std::string>& frames) {
  auto batch = std::make_shared<std::string>();
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!wanted[i]) continue;
    if (frames[i].empty()) frames[i] = Frame(items[i].name, revision, *items[i].message);
    *batch += frames[i];
  }
  return batch;
}

void StreamFeed::Subscribe(Topics topics, uint64_t last_event_id, std::string session_id,
                           std::shared_ptr<StreamSink> sink) {
  {
    // Register the topics before creating the snapshot, so that no later change is missed.
    const std::lock_guard lock(mutex_);
    for (const std::string& topic : topics) ++wanted_[topic];
  }
  api_.loop.Read(
      [this, subscriber = Subscriber{std::move(topics), std::move(session_id), std::move(sink)},
       last_event_id](const ClusterView& view) {
        std::set<int64_t> archived;
        for (const int64_t id : JobsOfTopics(subscriber.topics)) {
          if (IsArchived(view.state, id)) archived.insert(id);
        }
        const auto begin = [this, subscriber, last_event_id](const ArchivedEntries& entries) {
          api_.loop.Read([this, subscriber, last_event_id, entries](const ClusterView& now) {
            Begin(subscriber, last_event_id, entries, now);
          });
        };
        if (archived.empty()) return Begin(subscriber, last_event_id, {}, view);
        const bool queued = api_.readers.TryPost(
            [this, archived, begin] { begin(ReadArchived(archived, api_.events.archive())); });
        if (!queued) begin({});
      });
}

void StreamFeed::Begin(const Subscriber& subscriber, uint64_t last_event_id,
                       const ArchivedEntries& archived, const ClusterView& view) {
  Items first = FirstItems(subscriber.topics, last_event_id, view);
  for (const auto& [id, entry] : archived) {
    first.push_back({absl::StrCat("job:", id), "job",
                     std::make_shared<v1::GetJobResponse>(JobNow(entry, view))});
  }
  on_server_([this, subscriber, first = std::move(first), revision = view.revision] {
    AddSubscriber(subscriber, first, revision);
  });
}

StreamFeed::Items StreamFeed::FirstItems(const Topics& topics, uint64_t last_event_id,
                                         const ClusterView& view) const {
  const bool resumed = collector_->CanResume(last_event_id, view);
  auto hello = std::make_shared<v1::StreamHello>();
  hello->set_cluster_id(api_.server_info.cluster_id());
  hello->set_version(api_.server_info.version());
  hello->set_revision(view.revision);
  hello->set_as_of_ms(view.now);
  hello->set_resumed(resumed);
  Items first{{"", "hello", std::move(hello)}};
  const auto missed = collector_->EventsAfter(resumed ? last_event_id : 0, view);
  std::set<int64_t> jobs = NewestLiveJobs(view.state);
  std::set<std::string> nodes;
  for (const v1::EventEntry& entry : missed->events()) {
    jobs.insert(JobIdOf(entry.event()));
    AddNodesOf(entry.event(), view.state, nodes);
  }
  for (const std::string& topic : topics) {
    if (topic == "jobs") {
      auto changed = resumed ? JobsOrSnapshot(jobs, view) : JobsSnapshot(view);
      for (const v1::EventEntry& entry : missed->events()) AddRemoved(entry.event(), *changed);
      first.push_back({topic, "jobs", std::move(changed)});
    } else if (topic == "nodes") {
      first.push_back({topic, "nodes", NodesOf(resumed ? &nodes : nullptr, view)});
    } else if (topic == "events") {
      const int extra = missed->events_size() - kEventsInSnapshot;
      if (!resumed && extra > 0) missed->mutable_events()->DeleteSubrange(0, extra);
      first.push_back({topic, "events", missed});
    } else if (const JobEntry* entry = FindEntry(view.state, JobOfTopic(topic, "job"))) {
      first.push_back({topic, "job", std::make_shared<v1::GetJobResponse>(JobNow(*entry, view))});
    }
  }
  return first;
}

void StreamFeed::AddSubscriber(Subscriber subscriber, const Items& first, uint64_t revision) {
  // Send all first items as one message, because only a stream's first message is exempt from the
  // queue limit.
  auto frames = std::make_shared<std::string>();
  for (const Item& item : first) frames->append(Frame(item.name, revision, *item.message));
  subscriber.sink->Send(std::move(frames));
  subscribers_.push_back(std::move(subscriber));
  DropClosed();
}

void StreamFeed::DropClosed() {
  const std::lock_guard lock(mutex_);
  std::erase_if(subscribers_, [this](const Subscriber& one) {
    if (one.sink->open()) return false;
    for (const std::string& topic : one.topics) {
      if (--wanted_[topic] == 0) wanted_.erase(topic);
    }
    return true;
  });
}

void StreamFeed::Heartbeat() {
  static const auto comment = std::make_shared<const std::string>(": alive\n\n");
  for (const Subscriber& subscriber : subscribers_) subscriber.sink->Send(comment);
  DropClosed();
}

void StreamFeed::CloseEndedSessions() {
  // Cache the result per session, because many streams may belong to one session.
  std::map<std::string, bool> lives;
  for (const Subscriber& subscriber : subscribers_) {
    if (subscriber.session_id.empty()) continue;
    const auto [found, added] = lives.try_emplace(subscriber.session_id, false);
    if (added) found->second = api_.gate.SessionLives(found->first);
    if (!found->second) subscriber.sink->Close();
  }
  DropClosed();
}

void StreamFeed::CloseAll() {
  for (const Subscriber& subscriber : subscribers_) subscriber.sink->Close();
  subscribers_.clear();
}

}  // namespace trainyard::controller::http
