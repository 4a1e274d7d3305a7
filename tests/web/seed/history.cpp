#include "tests/web/seed/history.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "controller/core/apply/apply.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/observations/observe.h"
#include "controller/core/reconcile.h"
#include "proto/contract/protocol_version.h"

namespace trainyard::seed {
namespace {

constexpr std::size_t kEventsPerAppend = 2000;
constexpr std::size_t kBatchesPerAppend = 64;
constexpr int64_t kStepsPerBatch = 500;
constexpr int64_t kStepsPerOutputBatch = 20;
// kTalkingRanks is the number of ranks that write output. Except for rank 0, each of these ranks
// writes one line per kQuietEvery steps.
constexpr int kTalkingRanks = 16;
constexpr int64_t kQuietEvery = 7;
constexpr int64_t kEvaluationEvery = 250;
// Seconds that an attempt spends outside of its steps. kStallRatio is a fraction of the time spent
// in steps.
constexpr double kInitSeconds = 9;
constexpr double kLoadSeconds = 14;
constexpr double kStallRatio = 0.004;
constexpr double kEvaluationSeconds = 3.5;

void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "seed: %s\n", status.ToString().c_str());
  std::abort();
}

v1::Hello HelloOf(int index, int slots) {
  v1::Hello hello;
  hello.set_protocol_version(kProtocolVersion);
  hello.set_node_id(absl::StrFormat("node-%03d", index));
  hello.set_node_name(absl::StrFormat("gpu%03d", index));
  hello.set_incarnation("seed");
  hello.set_address(absl::StrFormat("10.0.%d.%d", index / 250, index % 250 + 1));
  hello.set_worker_version("0.1.0");
  for (int slot = 0; slot < slots; ++slot) {
    v1::Slot& one = *hello.mutable_inventory()->add_slots();
    one.set_index(slot);
    one.set_kind(v1::DEVICE_KIND_GPU);
    one.set_model("NVIDIA H200");
    one.set_uuid(absl::StrFormat("GPU-%03d-%d", index, slot));
    one.set_memory_bytes(int64_t{143771} << 20);
  }
  hello.mutable_inventory()->set_cpu_cores(192);
  hello.mutable_inventory()->set_memory_bytes(int64_t{2} << 40);
  return hello;
}

}  // namespace

History::History(controller::Stores& stores, Timestamp begin) : stores_(stores), now_(begin) {
  options_.checkpoint_root = "/checkpoints";
  observations_.since_ms = begin;
}

void History::AdvanceTo(Timestamp time) {
  if (time < now_) {
    std::fprintf(stderr, "seed: the past took %lld ms too long\n",
                 static_cast<long long>(now_ - time));
    std::abort();
  }
  now_ = time;
}

void History::Do(const controller::Request& request) {
  auto events = controller::Decide(state_, request, options_, now_);
  Check(events.status());
  Take(*events);
}

void History::Take(const std::vector<v1::Event>& events) {
  for (const v1::Event& event : events) {
    controller::Apply(event, state_);
    unwritten_.push_back(event);
  }
  if (unwritten_.size() >= kEventsPerAppend) FlushEvents();
}

void History::ReportNodes() {
  for (auto& [id, node] : observations_.nodes) {
    if (!unresponsive_.contains(id)) node.last_heartbeat_ms = now_;
  }
}

void History::ReportRanks(int64_t job) {
  const v1::Attempt& attempt = *controller::NewestAttempt(state_.jobs.at(job));
  const auto trained = static_cast<double>(steps_[job] - attempt.resume_step());
  controller::RankObservation& rank = observations_.attempts[{job, attempt.number()}].ranks[0];
  rank.step = steps_[job];
  rank.newest.set_step(steps_[job]);
  rank.newest.set_init_seconds(kInitSeconds);
  rank.newest.set_load_seconds(attempt.resume_step() > 0 ? kLoadSeconds : 0);
  rank.newest.set_data_stall_seconds(kStallRatio * trained * RunOf(Job(job)).step_seconds);
  rank.newest.set_evaluation_seconds(kEvaluationSeconds * trained / kEvaluationEvery);
}

void History::Settle() {
  ReportNodes();
  while (true) {
    const auto events = controller::Reconcile(state_, observations_, options_, now_).events;
    if (events.empty()) return;
    Take(events);
  }
}

void History::AddNodes(int count, int slots) {
  for (int index = 1; index <= count; ++index) {
    const v1::Hello hello = HelloOf(index, slots);
    Do(controller::AttachWorker{hello});
    controller::ObserveAttached(hello, now_, state_, observations_);
    controller::ObserveWelcomed(hello.node_id(), observations_);
  }
}

void History::LoseNode(const std::string& node_id) {
  unresponsive_.insert(node_id);
  controller::ObserveDetached(node_id, observations_);
  // A node is suspect after 3 s without a heartbeat and lost after 8 s.
  for (int second = 0; second < 12; ++second) {
    Advance(1000);
    Settle();
  }
}

void History::Cordon(const std::string& node_id, const std::string& reason,
                     const std::string& user) {
  v1::CordonNodeRequest request;
  request.set_node(node_id);
  request.set_cordoned(true);
  request.set_reason(reason);
  Do(controller::CordonNode{request, {user}});
}

int64_t History::Submit(const v1::JobSpec& spec, const std::vector<v1::Origin>& origins,
                        const std::string& user) {
  v1::SubmitJobRequest request;
  *request.mutable_spec() = spec;
  request.mutable_origins()->Assign(origins.begin(), origins.end());
  const auto submit = controller::JobSubmission::Check(request, {user});
  Check(submit.status());
  Do(*submit);
  return state_.next_job_id - 1;
}

void History::SendFact(const std::string& node_id, v1::Fact fact) {
  fact.set_sequence(state_.nodes.at(node_id).fact_sequence + 1);
  Do(controller::ReceiveFact{node_id, std::move(fact)});
}

void History::Start(int64_t job) {
  Advance(400);
  Settle();
  // Waits until the backoff ends and the next attempt starts.
  while (controller::LiveAttempt(state_.jobs.at(job)) == nullptr) {
    Advance(1000);
    Settle();
  }
  const v1::Attempt attempt = *controller::LiveAttempt(state_.jobs.at(job));
  for (const v1::RankPlacement& rank : attempt.ranks()) {
    v1::Fact fact;
    fact.mutable_rank_started()->set_job_id(job);
    fact.mutable_rank_started()->set_attempt(attempt.number());
    fact.mutable_rank_started()->set_rank(rank.rank());
    fact.mutable_rank_started()->set_pid(1000 + rank.rank());
    fact.mutable_rank_started()->set_time_ms(now_);
    SendFact(rank.node_id(), std::move(fact));
  }
  Advance(2000);
  Settle();
  steps_[job] = attempt.resume_step();
  step_times_[job] = now_;
}

void History::AddStep(int64_t job, int64_t step, Timestamp time, const Tweak& tweak) {
  AddPoints(job, step, time, tweak);
  AddOutput(job, step, time);
  steps_[job] = step;
  step_times_[job] = time;
}

void History::AddPoints(int64_t job, int64_t step, Timestamp time, const Tweak& tweak) {
  const TrainingRun run = RunOf(Job(job));
  const v1::Attempt& attempt = *controller::NewestAttempt(state_.jobs.at(job));
  const controller::StreamKey stream{job, attempt.number(), 0, v1::STREAM_KIND_TELEMETRY};
  if (points_.empty() || points_.back().stream != stream ||
      points_.back().end_offset - points_.back().begin_offset >= kStepsPerBatch * kBytesPerStep) {
    if (points_.size() >= kBatchesPerAppend) FlushPoints();
    points_.push_back({stream, offsets_[stream], offsets_[stream], {}});
  }
  controller::MetricBatch& batch = points_.back();
  batch.end_offset = offsets_[stream] += kBytesPerStep;
  Values values = ValuesAt(run, step);
  if (step % kEvaluationEvery == 0) values.emplace_back("val_loss", ValidationLossAt(run, step));
  if (tweak) tweak(step, values);
  for (auto& [key, value] : values) batch.points.push_back({std::move(key), step, time, value});
}

void History::AddOutput(int64_t job, int64_t step, Timestamp time) {
  const TrainingRun run = RunOf(Job(job));
  const v1::Attempt& attempt = *controller::NewestAttempt(state_.jobs.at(job));
  const int ranks = std::min(kTalkingRanks, attempt.ranks_size());
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank > 0 && (step + rank) % kQuietEvery != 0) continue;
    const controller::StreamKey stream{job, attempt.number(), rank, v1::STREAM_KIND_LOG};
    const std::string line = OutputLine(run, rank, step);
    controller::LogBatch& batch = talking_[stream];
    if (batch.data.empty()) batch = {stream, offsets_[stream], time, ""};
    batch.data += line;
    offsets_[stream] += static_cast<int64_t>(line.size());
  }
  if (step % kStepsPerOutputBatch == 0) TakeOutput();
}

void History::TakeOutput() {
  for (auto& [stream, batch] : talking_) {
    if (!batch.data.empty()) output_.push_back(std::move(batch));
  }
  talking_.clear();
}

void History::Train(int64_t job, int64_t to_step, const Tweak& tweak) {
  const auto step_ms = static_cast<int64_t>(RunOf(Job(job)).step_seconds * 1e3);
  for (int64_t step = steps_[job] + 1; step <= to_step; ++step) {
    Advance(step_ms);
    AddStep(job, step, now_, tweak);
  }
  ReportRanks(job);
  Settle();
}

int64_t History::CatchUp(int64_t job) {
  const auto step_ms = static_cast<int64_t>(RunOf(Job(job)).step_seconds * 1e3);
  while (step_times_[job] + step_ms <= now_) {
    AddStep(job, steps_[job] + 1, step_times_[job] + step_ms, {});
  }
  return steps_[job];
}

void History::SendRecord(int64_t job, v1::TelemetryRecord record) {
  record.set_time_ms(now_);
  const int64_t attempt_number = controller::NewestAttempt(state_.jobs.at(job))->number();
  Do(controller::ReceiveTelemetry{job, attempt_number, 0, std::move(record)});
}

void History::Publish(int64_t job, int64_t step) {
  v1::TelemetryRecord record;
  record.mutable_checkpoint()->set_step(step);
  record.mutable_checkpoint()->set_path(
      absl::StrCat("/checkpoints/", job, "-", Job(job).name(), "/step-", step));
  record.mutable_checkpoint()->set_bytes(96'400'000'000);
  record.mutable_checkpoint()->set_blocking_seconds(0.4);
  SendRecord(job, std::move(record));
  const auto& kept = Job(job).checkpoints();
  if (kept.size() <= Job(job).spec().checkpoint().keep_last()) return;
  v1::TelemetryRecord removed;
  removed.mutable_checkpoint()->set_step(kept.begin()->step());
  removed.mutable_checkpoint()->set_attempt(kept.begin()->attempt());
  removed.mutable_checkpoint()->set_path(kept.begin()->path());
  removed.mutable_checkpoint()->set_deleted(true);
  SendRecord(job, std::move(removed));
}

void History::Alert(int64_t job, int64_t step, const std::string& code,
                    const std::string& message) {
  v1::TelemetryRecord record;
  record.mutable_alert()->set_step(step);
  record.mutable_alert()->set_code(code);
  record.mutable_alert()->set_message(message);
  SendRecord(job, std::move(record));
}

void History::ExitRank(int64_t job, int rank, v1::RankExited exited) {
  const v1::Attempt& attempt = *controller::NewestAttempt(state_.jobs.at(job));
  exited.set_job_id(job);
  exited.set_attempt(attempt.number());
  exited.set_rank(rank);
  exited.set_time_ms(now_);
  v1::Fact fact;
  *fact.mutable_rank_exited() = std::move(exited);
  SendFact(std::string(attempt.ranks(rank).node_id()), std::move(fact));
}

void History::ExitRanks(int64_t job, int signal) {
  const controller::JobEntry& entry = state_.jobs.at(job);
  const v1::Attempt attempt = *controller::NewestAttempt(entry);
  for (int rank = 0; rank < attempt.ranks_size(); ++rank) {
    if (entry.exited_ranks.contains(rank)) continue;
    v1::RankExited exited;
    exited.set_signal(signal);
    ExitRank(job, rank, std::move(exited));
  }
  Advance(900);
  Settle();
  for (const std::string& node_id : controller::GangNodes(attempt)) {
    v1::Fact fact;
    fact.mutable_attempt_cleared()->set_job_id(job);
    fact.mutable_attempt_cleared()->set_attempt(attempt.number());
    SendFact(node_id, std::move(fact));
  }
  Advance(100);
  Settle();
}

void History::Fail(int64_t job, int rank, int exit_code, int signal,
                   const std::string& final_output) {
  v1::RankExited exited;
  exited.set_exit_code(exit_code);
  exited.set_signal(signal);
  exited.set_log_tail(final_output);
  ExitRank(job, rank, std::move(exited));
  Settle();
  constexpr int kTerminated = 15;
  ExitRanks(job, kTerminated);
}

void History::Finish(int64_t job) { ExitRanks(job, 0); }

void History::Stop(int64_t job, const std::string& user) {
  v1::StopJobRequest request;
  request.set_job(absl::StrCat(job));
  Do(controller::StopJob{request, {user}});
  ExitRanks(job, 0);
}

void History::TrainFast(int64_t job, int64_t to_step, const std::set<std::string>& every_step,
                        int64_t others_every) {
  const auto step_ms = static_cast<int64_t>(RunOf(Job(job)).step_seconds * 1e3);
  const Tweak thin = [&](int64_t step, Values& values) {
    if (step % others_every == 0) return;
    std::erase_if(values, [&](const auto& value) { return !every_step.contains(value.first); });
  };
  for (int64_t step = steps_[job] + 1; step <= to_step; ++step) {
    Advance(step_ms);
    AddPoints(job, step, now_, thin);
    if (step % others_every == 0) AddOutput(job, step, now_);
  }
  steps_[job] = to_step;
  step_times_[job] = now_;
  ReportRanks(job);
  Settle();
}

void History::WriteOutput(int64_t job, int rank, int64_t bytes) {
  constexpr std::size_t kSlice = 1 << 20;
  constexpr int kSlicesPerAppend = 16;
  const TrainingRun run = RunOf(Job(job));
  std::string block;
  for (int64_t step = 1; block.size() < 16 * kSlice; ++step) block += OutputLine(run, rank, step);
  const int64_t attempt_number = controller::NewestAttempt(state_.jobs.at(job))->number();
  const controller::StreamKey stream{job, attempt_number, rank, v1::STREAM_KIND_LOG};
  FlushPoints();
  std::vector<controller::LogBatch> batches;
  for (const int64_t end = offsets_[stream] + bytes; offsets_[stream] < end;) {
    const std::size_t at = static_cast<std::size_t>(offsets_[stream]) % block.size();
    const std::string slice =
        block.substr(at, std::min(kSlice, static_cast<std::size_t>(end - offsets_[stream])));
    batches.push_back({stream, offsets_[stream], now_, slice});
    offsets_[stream] += static_cast<int64_t>(slice.size());
    if (batches.size() < kSlicesPerAppend && offsets_[stream] < end) continue;
    Check(stores_.logs->Append(batches));
    batches.clear();
  }
}

void History::FlushPoints() {
  if (!points_.empty()) Check(stores_.metrics->Append(points_));
  points_.clear();
  TakeOutput();
  if (!output_.empty()) Check(stores_.logs->Append(output_));
  output_.clear();
}

void History::FlushEvents() {
  if (unwritten_.empty()) return;
  Check(stores_.events->Append(unwritten_));
  written_ += unwritten_.size();
  unwritten_.clear();
}

v1::Snapshot History::Close() {
  FlushPoints();
  FlushEvents();
  v1::Snapshot snapshot = controller::ToSnapshot(state_, written_);
  Check(stores_.events->WriteSnapshot(snapshot));
  return snapshot;
}

}  // namespace trainyard::seed
