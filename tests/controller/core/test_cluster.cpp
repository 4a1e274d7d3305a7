#include "tests/controller/core/test_cluster.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "controller/core/apply/apply.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/observations/observe.h"
#include "controller/core/observations/observe_telemetry.h"
#include "controller/core/reconcile.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "gtest/gtest.h"

namespace trainyard::controller {

v1::JobSpec TestSpec(const std::string& name, int nodes, int slots_per_node) {
  v1::JobSpec spec;
  spec.set_name(name);
  spec.mutable_resources()->set_nodes(nodes);
  spec.mutable_resources()->set_slots_per_node(slots_per_node);
  spec.mutable_resources()->set_device(v1::DEVICE_KIND_CPU);
  spec.add_command("train");
  spec.mutable_restart()->set_max_restarts(3);
  return spec;
}

v1::JobSpec AutoSpec(const std::string& name, int nodes, int slots_per_node) {
  v1::JobSpec spec = TestSpec(name, nodes, slots_per_node);
  spec.clear_command();
  spec.set_auto_layout(true);
  v1::ModelSpec& model = *spec.mutable_model();
  model.set_num_layers(4);
  model.set_hidden_size(64);
  model.set_ffn_hidden_size(128);
  model.set_num_attention_heads(4);
  model.set_vocab_size(256);
  spec.mutable_data()->set_path("/data");
  spec.mutable_train()->set_seq_length(32);
  spec.mutable_train()->set_global_batch(840);
  spec.mutable_train()->set_steps(1000);
  spec.mutable_train()->set_precision(v1::PRECISION_FP32);
  return spec;
}

v1::JobSpec SparesSpec(const std::string& name, int nodes, int slots_per_node, int spares) {
  v1::JobSpec spec = AutoSpec(name, nodes, slots_per_node);
  spec.clear_auto_layout();
  spec.mutable_restart()->set_spares(spares);
  return spec;
}

TestCluster::TestCluster() {
  options.checkpoint_root = "/checkpoints";
  observations.since_ms = now;
}

void TestCluster::AddNode(const std::string& id, int slots) {
  v1::Slot slot;
  slot.set_kind(v1::DEVICE_KIND_CPU);
  Attach(id, slots, slot, {});
}

void TestCluster::AddNode(const std::string& id, int slots, const HostAmount& host) {
  v1::Inventory& inventory = *hellos_[id].mutable_inventory();
  inventory.set_cpu_cores(static_cast<int32_t>(host.cpus));
  inventory.set_memory_bytes(host.memory_bytes);
  AddNode(id, slots);
}

void TestCluster::AddGpuNode(const std::string& id, int gpus, const std::string& model,
                             const std::map<std::string, std::string>& labels) {
  v1::Slot slot;
  slot.set_kind(v1::DEVICE_KIND_GPU);
  slot.set_model(model);
  Attach(id, gpus, slot, labels);
}

void TestCluster::Attach(const std::string& id, int slots, const v1::Slot& slot,
                         const std::map<std::string, std::string>& labels) {
  v1::Hello& hello = hellos_[id];
  hello.set_node_id(id);
  hello.set_node_name(id);
  hello.set_incarnation("1");
  hello.set_address(absl::StrCat("10.0.0.", hellos_.size()));
  hello.mutable_labels()->insert(labels.begin(), labels.end());
  for (int i = 0; i < slots; ++i) {
    v1::Slot& added = *hello.mutable_inventory()->add_slots();
    added = slot;
    added.set_index(i);
  }
  Do(AttachWorker{hello});
  OpenStream(id);
}

void TestCluster::OpenStream(const std::string& id) {
  ObserveAttached(HelloOf(id), now, state, observations);
  ObserveWelcomed(id, observations);
}

void TestCluster::Leave(const std::string& id) {
  v1::Heartbeat heartbeat;
  for (const auto& [job_id, report] : reports_[id]) *heartbeat.add_attempts() = report;
  heartbeat.mutable_condition()->set_leaving(true);
  ObserveHeartbeat(id, heartbeat, now, state, observations);
  ObserveDetached(id, observations);
  StopHeartbeats(id);
}

void TestCluster::Take(const std::vector<v1::Event>& events) {
  for (const v1::Event& event : events) Apply(event, state);
}

std::vector<v1::Event> TestCluster::Do(const Request& request) {
  const auto events = Decide(state, request, options, now);
  EXPECT_TRUE(events.ok()) << events.status();
  if (!events.ok()) return {};
  Take(*events);
  return *events;
}

absl::Status TestCluster::Try(const Request& request) const {
  return Decide(state, request, options, now).status();
}

JobSubmission Checked(const v1::SubmitJobRequest& request, const Principal& principal) {
  auto submit = JobSubmission::Check(request, principal);
  EXPECT_TRUE(submit.ok()) << submit.status();
  return *submit;
}

int64_t TestCluster::Submit(const v1::JobSpec& spec, const std::string& request_id) {
  v1::SubmitJobRequest request;
  *request.mutable_spec() = spec;
  request.set_request_id(request_id);
  Do(Checked(request));
  return state.next_job_id - 1;
}

int64_t TestCluster::Submit(const std::string& name, int nodes, int slots_per_node) {
  return Submit(TestSpec(name, nodes, slots_per_node));
}

void TestCluster::Stop(int64_t job_id, bool kill) {
  v1::StopJobRequest request;
  request.set_job(absl::StrCat(job_id));
  request.set_kill(kill);
  Do(StopJob{request, {"ada"}});
}

ClusterView TestCluster::View() const {
  schedule_ = Reconcile(state, observations, options, now).schedule;
  return {state, observations, options, schedule_, now};
}

std::vector<v1::Event> TestCluster::Settle() {
  std::vector<v1::Event> all;
  for (int i = 0; i < 100; ++i) {
    const std::vector<v1::Event> events = Reconcile(state, observations, options, now).events;
    if (events.empty()) return all;
    Take(events);
    all.insert(all.end(), events.begin(), events.end());
  }
  ADD_FAILURE() << "planning never comes to rest";
  return all;
}

void TestCluster::Measure(v1::AttemptReport& report) {
  for (v1::RankReport& rank : *report.mutable_ranks()) {
    const AttemptKey attempt{report.job_id(), report.attempt()};
    const auto [found, is_new] = seen_.try_emplace({attempt, rank.rank()});
    Seen& seen = found->second;
    const bool moved = is_new || seen.step != rank.step() || seen.phase != rank.phase();
    if (moved) seen.still_since_ms = now;
    if (moved || seen.activity_ms != rank.last_activity_ms()) seen.quiet_since_ms = now;
    seen.step = rank.step();
    seen.phase = rank.phase();
    seen.activity_ms = rank.last_activity_ms();
    rank.set_still_ms(now - seen.still_since_ms);
    rank.set_quiet_ms(now - seen.quiet_since_ms);
  }
}

void TestCluster::StepClock(int64_t step_ms) {
  now += step_ms;
  v1::Event event;
  event.set_time_ms(now);
  event.mutable_clock_set()->set_boot_time_ms(state.clock.boot_time_ms() + step_ms);
  event.mutable_clock_set()->set_step_ms(step_ms);
  Take({event});
  ShiftTimes(step_ms, observations);
  for (auto& [rank, seen] : seen_) {
    seen.still_since_ms += step_ms;
    seen.quiet_since_ms += step_ms;
  }
}

std::vector<v1::Event> TestCluster::Pass(int64_t ms, int64_t step_ms) {
  std::vector<v1::Event> all;
  const Timestamp end = now + ms;
  while (now < end) {
    now = std::min<Timestamp>(end, now + step_ms);
    for (const auto& [id, hello] : hellos_) {
      if (unresponsive_.contains(id)) continue;
      v1::Heartbeat heartbeat;
      for (const auto& [job_id, report] : reports_[id]) {
        *heartbeat.add_attempts() = report;
        if (measures) Measure(*heartbeat.mutable_attempts()->rbegin());
      }
      ObserveHeartbeat(id, heartbeat, now, state, observations);
    }
    const std::vector<v1::Event> events = Settle();
    all.insert(all.end(), events.begin(), events.end());
  }
  return all;
}

void TestCluster::SendFact(const std::string& node_id, v1::Fact fact) {
  fact.set_sequence(state.nodes.at(node_id).fact_sequence + 1);
  Do(ReceiveFact{node_id, fact, ClockAheadMs(observations, node_id)});
}

void TestCluster::StartRank(int64_t job_id, int rank) {
  v1::Fact fact;
  v1::RankStarted& started = *fact.mutable_rank_started();
  started.set_job_id(job_id);
  started.set_attempt(Attempt(job_id).number());
  started.set_rank(rank);
  started.set_time_ms(now);
  SendFact(Attempt(job_id).ranks(rank).node_id(), fact);
}

void TestCluster::ExitRank(int64_t job_id, int rank, int exit_code, Timestamp time_ms) {
  v1::RankExited exited;
  exited.set_rank(rank);
  exited.set_exit_code(exit_code);
  exited.set_time_ms(time_ms == 0 ? now : time_ms);
  Exit(job_id, exited);
}

void TestCluster::Exit(int64_t job_id, v1::RankExited exited) {
  exited.set_job_id(job_id);
  exited.set_attempt(Attempt(job_id).number());
  v1::Fact fact;
  *fact.mutable_rank_exited() = exited;
  SendFact(Attempt(job_id).ranks(exited.rank()).node_id(), fact);
}

void TestCluster::ClearNode(int64_t job_id, const std::string& node_id) {
  v1::Fact fact;
  fact.mutable_attempt_cleared()->set_job_id(job_id);
  fact.mutable_attempt_cleared()->set_attempt(Attempt(job_id).number());
  SendFact(node_id, fact);
}

void TestCluster::StartAll(int64_t job_id) {
  for (int rank = 0; rank < Attempt(job_id).ranks_size(); ++rank) StartRank(job_id, rank);
  Settle();
}

void TestCluster::ExitAll(int64_t job_id, int exit_code) {
  for (int rank = 0; rank < Attempt(job_id).ranks_size(); ++rank) {
    if (!state.jobs.at(job_id).exited_ranks.contains(rank)) ExitRank(job_id, rank, exit_code);
  }
  Settle();
}

void TestCluster::ClearAll(int64_t job_id) {
  for (const std::string& node_id : GangNodes(Attempt(job_id))) {
    if (!state.jobs.at(job_id).cleared_nodes.contains(node_id)) ClearNode(job_id, node_id);
  }
  Settle();
}

void TestCluster::RunJob(int64_t job_id) {
  Settle();
  StartAll(job_id);
  ASSERT_EQ(StateOf(job_id), v1::JOB_STATE_RUNNING);
}

void TestCluster::Step(int64_t job_id, int rank, int64_t step, double step_seconds) {
  v1::TelemetryBatch batch;
  batch.mutable_stream()->set_job_id(job_id);
  batch.mutable_stream()->set_attempt(Attempt(job_id).number());
  batch.mutable_stream()->set_rank(rank);
  v1::TelemetryRecord& record = *batch.add_records();
  record.set_time_ms(now);
  record.mutable_metrics()->set_step(step);
  (*record.mutable_metrics()->mutable_values())["step_seconds"] = step_seconds;
  ObserveTelemetry(batch, state, observations);
}

void TestCluster::Publish(int64_t job_id, int64_t step) {
  ReceiveTelemetry request{job_id, Attempt(job_id).number(), 0, {}};
  request.record.mutable_checkpoint()->set_step(step);
  request.record.mutable_checkpoint()->set_path(absl::StrCat("/c/step_", step));
  Do(request);
}

v1::AttemptReport& TestCluster::Report(const std::string& node_id, int64_t job_id) {
  v1::AttemptReport& report = reports_[node_id][job_id];
  report.set_job_id(job_id);
  report.set_attempt(Attempt(job_id).number());
  return report;
}

v1::AttemptReport& TestCluster::ReportRunning(const std::string& node_id, int64_t job_id,
                                              int ranks) {
  v1::AttemptReport& report = Report(node_id, job_id);
  report.clear_ranks();
  for (int number = 0; number < ranks; ++number) {
    v1::RankReport& rank = *report.add_ranks();
    rank.set_rank(number);
    rank.set_running(true);
  }
  return report;
}

const v1::Attempt& TestCluster::Attempt(int64_t job_id) const {
  return *NewestAttempt(state.jobs.at(job_id));
}

std::string TestCluster::Placement(int64_t job_id) const {
  std::string text;
  for (const v1::RankPlacement& rank : Attempt(job_id).ranks()) {
    absl::StrAppend(&text, text.empty() ? "" : " ", rank.node_id(), ":", rank.slot());
  }
  return text;
}

std::vector<std::string> TestCluster::Commands() const {
  std::vector<std::string> lines;
  for (const Command& command : CommandsDue(state, observations, now)) {
    if (command.message.has_start_attempt()) {
      const v1::StartAttempt& start = command.message.start_attempt();
      lines.push_back(
          absl::StrCat("start ", command.node_id, " ", start.job_id(), "/", start.attempt()));
    } else if (command.message.has_heal_attempt()) {
      const v1::HealAttempt& heal = command.message.heal_attempt();
      lines.push_back(absl::StrCat("heal ", command.node_id, " ", heal.job_id(), "/",
                                   heal.attempt(), " ", heal.generation()));
    } else if (command.message.has_warn_attempt()) {
      const v1::WarnAttempt& warn = command.message.warn_attempt();
      lines.push_back(absl::StrCat("warn ", command.node_id, " ", warn.job_id(), "/",
                                   warn.attempt(), " ", warn.number(), " ", warn.signal()));
    } else {
      const v1::StopAttempt& stop = command.message.stop_attempt();
      lines.push_back(absl::StrCat("stop ", command.node_id, " ", stop.job_id(), "/",
                                   stop.attempt(), " ", ToMs(stop.grace())));
    }
  }
  return lines;
}

std::vector<std::string> Kinds(const std::vector<v1::Event>& events) {
  std::vector<std::string> kinds;
  for (const v1::Event& event : events) {
    const auto* field = v1::Event::descriptor()->FindFieldByNumber(event.kind_case());
    kinds.push_back(field->message_type()->name());
  }
  return kinds;
}

double SecondsOf(const v1::Ledger& ledger, v1::LedgerPhase phase) {
  for (const v1::PhaseTime& time : ledger.phases()) {
    if (time.phase() == phase) return time.seconds();
  }
  return 0;
}

std::string Bytes(const ClusterState& state) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  // Map fields, such as a job's environment, have no defined order in protobuf.
  coded.SetSerializationDeterministic(true);
  ToSnapshot(state, 0).SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

std::string DifferentIndexes(const ClusterState& a, const ClusterState& b) {
  if (a.pending_jobs != b.pending_jobs) return "pending_jobs";
  if (a.dependent_jobs != b.dependent_jobs) return "dependent_jobs";
  if (a.dependents != b.dependents) return "dependents";
  if (a.unsatisfiable_jobs != b.unsatisfiable_jobs) return "unsatisfiable_jobs";
  if (a.open_arrays != b.open_arrays) return "open_arrays";
  if (a.live_elements != b.live_elements) return "live_elements";
  if (a.reservations != b.reservations) return "reservations";
  if (a.pending_auto_jobs != b.pending_auto_jobs) return "pending_auto_jobs";
  if (a.paused_jobs != b.paused_jobs) return "paused_jobs";
  if (a.live_jobs != b.live_jobs) return "live_jobs";
  if (a.stopping_jobs != b.stopping_jobs) return "stopping_jobs";
  if (a.run_ends != b.run_ends) return "run_ends";
  if (a.slot_rows != b.slot_rows) return "slot_rows";
  if (a.lost_nodes != b.lost_nodes) return "lost_nodes";
  if (a.blamed_nodes != b.blamed_nodes) return "blamed_nodes";
  if (a.draining_nodes != b.draining_nodes) return "draining_nodes";
  if (a.present_slots != b.present_slots) return "present_slots";
  if (a.unhealthy_nodes != b.unhealthy_nodes) return "unhealthy_nodes";
  if (a.ended_jobs != b.ended_jobs) return "ended_jobs";
  if (a.jobs_by_name != b.jobs_by_name) return "jobs_by_name";
  if (a.job_by_request_id != b.job_by_request_id) return "job_by_request_id";
  if (a.job_by_checkpoint_dir != b.job_by_checkpoint_dir) return "job_by_checkpoint_dir";
  if (a.nodes_by_device != b.nodes_by_device) return "nodes_by_device";
  if (a.rendezvous_in_use != b.rendezvous_in_use) return "rendezvous_in_use";
  const auto holds = [](const auto& left, const auto& right) {
    return left.second.holders == right.second.holders &&
           left.second.free_host == right.second.free_host;
  };
  if (!std::ranges::equal(a.nodes, b.nodes, holds)) return "holders or free_host";
  for (const v1::DeviceKind kind : {v1::DEVICE_KIND_CPU, v1::DEVICE_KIND_GPU}) {
    const auto left = a.free_nodes.find(kind), right = b.free_nodes.find(kind);
    const NodesByFreeSlots none;
    if ((left == a.free_nodes.end() ? none : left->second) !=
        (right == b.free_nodes.end() ? none : right->second)) {
      return "free_nodes";
    }
  }
  for (const auto& [id, entry] : a.nodes) {
    if (entry.live_jobs != b.nodes.at(id).live_jobs) return "live_jobs of " + id;
    if (entry.uncleared != b.nodes.at(id).uncleared) return "uncleared of " + id;
  }
  return "";
}

}  // namespace trainyard::controller
