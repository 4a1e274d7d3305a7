#include "controller/kernel/durable_records.h"

#include <iterator>

#include "controller/core/decide/decide_worker.h"
#include "controller/core/support/wait.h"
#include "controller/core/verdict/loss_guard.h"

namespace trainyard::controller {
namespace {

// The time from the first left-out record of a job to the first report, so that the report covers
// several records. Later reports follow at intervals of kReportEveryMs.
constexpr int64_t kFirstReportMs = 5000;
constexpr int64_t kReportEveryMs = 60'000;

bool AreTheSame(const v1::CheckpointRecord& one, const v1::CheckpointRecord& other) {
  if (one.deleted() && other.deleted()) return one.step() == other.step();
  return one.step() == other.step() && one.path() == other.path() &&
         one.deleted() == other.deleted();
}

bool ConcernsLossGuard(const ReceiveTelemetry& request) {
  return request.loss.has_value() ||
         (request.record.has_alert() && FindingOf(request.record.alert()).has_value());
}

int64_t StepOf(const v1::TelemetryRecord& record) {
  if (record.has_checkpoint()) return record.checkpoint().step();
  return record.has_alert() ? record.alert().step() : record.metrics().step();
}

}  // namespace

void DurableRecords::Add(const BatchId& batch, ReceiveTelemetry request, Timestamp now,
                         Changes& changes) {
  if (request.record.has_checkpoint()) {
    AddCheckpoint(batch, std::move(request), now, changes);
  } else {
    AddAlertOrLoss(batch, std::move(request), now, changes);
  }
}

DurableRecords::CheckpointKey DurableRecords::KeyOf(int64_t attempt,
                                                    const v1::CheckpointRecord& record) {
  return {record.attempt() == 0 ? attempt : record.attempt(), record.step()};
}

void DurableRecords::AddCheckpoint(const BatchId& batch, ReceiveTelemetry request, Timestamp now,
                                   Changes& changes) {
  if (request.record.checkpoint().deleted()) DropHeld(request, now, changes);
  if (Submitted* const same = FindSame(request)) {
    // An earlier request about this record is not committed yet, so the batch waits for the answer
    // to that request.
    same->waiting.push_back(batch);
  } else if (IsRedundant(request, now)) {
    changes.done.push_back(batch);
  } else if (request.record.checkpoint().deleted()) {
    Submit(std::move(request), batch, changes);
  } else {
    AddPublished(batch, std::move(request), now, changes);
  }
}

void DurableRecords::AddPublished(const BatchId& batch, ReceiveTelemetry request, Timestamp now,
                                  Changes& changes) {
  JobRecords& job = jobs_[request.job_id];
  const int64_t publisher = KeyOf(request.attempt, request.record.checkpoint()).first;
  const auto held = job.held_checkpoints.find(publisher);
  if (held == job.held_checkpoints.end()) {
    if (job.checkpoint_budget.Take(now)) return Submit(std::move(request), batch, changes);
    job.held_checkpoints.emplace(publisher, Held{std::move(request), batch});
    return;
  }
  const v1::CheckpointRecord& before = held->second.request.record.checkpoint();
  const v1::CheckpointRecord& record = request.record.checkpoint();
  if (!AreTheSame(before, record)) CountLeftOut(request, now);
  if (record.step() < before.step()) {
    changes.done.push_back(batch);
    return;
  }
  changes.done.push_back(held->second.batch);
  held->second = {std::move(request), batch};
}

// Returns the newest unanswered request about the same checkpoint, if its content equals that of
// `request`. Otherwise returns nullptr.
DurableRecords::Submitted* DurableRecords::FindSame(const ReceiveTelemetry& request) {
  const auto job = jobs_.find(request.job_id);
  if (job == jobs_.end()) return nullptr;
  const v1::CheckpointRecord& record = request.record.checkpoint();
  const auto newest = job->second.newest.find(KeyOf(request.attempt, record));
  if (newest == job->second.newest.end()) return nullptr;
  Submitted& submitted = submitted_.at(newest->second);
  return AreTheSame(submitted.record.checkpoint(), record) ? &submitted : nullptr;
}

// A record is not redundant while a request about its checkpoint is unanswered, because the state
// does not show the effect of that request yet.
bool DurableRecords::IsRedundant(const ReceiveTelemetry& request, Timestamp now) const {
  const v1::CheckpointRecord& record = request.record.checkpoint();
  const CheckpointKey key = KeyOf(request.attempt, record);
  if (key.first < 1 || key.first > request.attempt) return true;
  if (const auto job = jobs_.find(request.job_id); job != jobs_.end()) {
    if (job->second.newest.contains(key)) return false;
    if (!record.deleted() && job->second.paths.contains(record.path())) return false;
  }
  return DecideTelemetry(state_, request, now).empty();
}

void DurableRecords::DropHeld(const ReceiveTelemetry& deletion, Timestamp now, Changes& changes) {
  const auto job = jobs_.find(deletion.job_id);
  if (job == jobs_.end()) return;
  const v1::CheckpointRecord& record = deletion.record.checkpoint();
  const auto held = job->second.held_checkpoints.find(KeyOf(deletion.attempt, record).first);
  const bool is_it = held != job->second.held_checkpoints.end() &&
                     held->second.request.record.checkpoint().step() == record.step();
  if (!is_it) return;
  CountLeftOut(held->second.request, now);
  changes.done.push_back(held->second.batch);
  job->second.held_checkpoints.erase(held);
}

// Adds an alert or a loss. If the same alert is already submitted but not committed, it is not
// submitted again: the batch waits for the first request.
void DurableRecords::AddAlertOrLoss(const BatchId& batch, ReceiveTelemetry request, Timestamp now,
                                    Changes& changes) {
  if (request.record.has_alert()) {
    const auto known = alert_numbers_.find(AlertKeyOf(batch.stream, request.record.alert()));
    if (known != alert_numbers_.end()) {
      submitted_.at(known->second).waiting.push_back(batch);
      return;
    }
  }
  if (DecideTelemetry(state_, request, now).empty()) {
    changes.done.push_back(batch);
    return;
  }
  JobRecords& job = jobs_[request.job_id];
  if (!job.held_loss.has_value() && job.alert_budget.Take(now)) {
    Submit(std::move(request), batch, changes);
  } else if (!job.held_loss.has_value() && ConcernsLossGuard(request)) {
    job.held_loss = Held{std::move(request), batch};
  } else {
    CountLeftOut(request, now);
    changes.done.push_back(batch);
  }
}

void DurableRecords::Submit(ReceiveTelemetry request, const BatchId& batch, Changes& changes) {
  const uint64_t number = ++last_number_;
  JobRecords& job = jobs_[request.job_id];
  ++job.submitted;
  Submitted& submitted = submitted_[number];
  submitted.job_id = request.job_id;
  submitted.attempt = request.attempt;
  submitted.record = request.record;
  submitted.waiting.push_back(batch);
  if (request.record.has_checkpoint()) {
    job.newest[KeyOf(request.attempt, request.record.checkpoint())] = number;
    ++job.paths[request.record.checkpoint().path()];
  } else if (request.record.has_alert()) {
    submitted.alert = AlertKeyOf(batch.stream, request.record.alert());
    alert_numbers_[*submitted.alert] = number;
  }
  changes.submitted.emplace_back(number, std::move(request));
}

std::optional<AlertKey> DurableRecords::Answered(uint64_t number, Changes& changes) {
  const auto found = submitted_.extract(number);
  const Submitted& answered = found.mapped();
  changes.done.insert(changes.done.end(), answered.waiting.begin(), answered.waiting.end());
  if (answered.alert.has_value()) alert_numbers_.erase(*answered.alert);
  JobRecords& job = jobs_.at(answered.job_id);
  --job.submitted;
  if (answered.record.has_checkpoint()) {
    const v1::CheckpointRecord& record = answered.record.checkpoint();
    const auto newest = job.newest.find(KeyOf(answered.attempt, record));
    if (newest != job.newest.end() && newest->second == number) job.newest.erase(newest);
    if (--job.paths[record.path()] == 0) job.paths.erase(record.path());
  }
  return answered.alert;
}

void DurableRecords::SubmitHeld(const AttemptKey& attempt, Changes& changes) {
  const auto found = jobs_.find(attempt.job_id);
  if (found == jobs_.end()) return;
  JobRecords& job = found->second;
  for (auto held = job.held_checkpoints.begin(); held != job.held_checkpoints.end();) {
    const bool is_of_attempt = held->second.request.attempt == attempt.number;
    if (is_of_attempt) Submit(std::move(held->second.request), held->second.batch, changes);
    held = is_of_attempt ? job.held_checkpoints.erase(held) : std::next(held);
  }
  if (!job.held_loss.has_value() || job.held_loss->request.attempt != attempt.number) return;
  Held loss = *std::exchange(job.held_loss, std::nullopt);
  Submit(std::move(loss.request), loss.batch, changes);
}

void DurableRecords::SubmitWithinBudget(Timestamp now, Changes& changes) {
  for (auto entry = jobs_.begin(); entry != jobs_.end();) {
    JobRecords& job = entry->second;
    while (!job.held_checkpoints.empty() && job.checkpoint_budget.Take(now)) {
      const auto held = job.held_checkpoints.begin();
      Submit(std::move(held->second.request), held->second.batch, changes);
      job.held_checkpoints.erase(held);
    }
    if (job.held_loss.has_value() && job.alert_budget.Take(now)) {
      Held loss = *std::exchange(job.held_loss, std::nullopt);
      Submit(std::move(loss.request), loss.batch, changes);
    }
    const bool is_idle = job.submitted == 0 && job.left_out_since_ms == 0 &&
                         job.checkpoint_budget.IsFull(now) && job.alert_budget.IsFull(now) &&
                         HasPassed(job.reported_ms, job.reported_ms + kReportEveryMs, now);
    entry = is_idle ? jobs_.erase(entry) : std::next(entry);
  }
}

void DurableRecords::CountLeftOut(const ReceiveTelemetry& request, Timestamp now) {
  JobRecords& job = jobs_[request.job_id];
  if (job.left_out_since_ms == 0) job.left_out_since_ms = now;
  LeftOutRecords& total = observations_.left_out[request.job_id];
  const bool is_checkpoint = request.record.has_checkpoint();
  ++(is_checkpoint ? job.left_out.checkpoints : job.left_out.alerts);
  ++(is_checkpoint ? total.checkpoints : total.alerts);
  total.newest_ms = now;
  job.left_out.job_id = request.job_id;
  job.left_out.attempt = request.attempt;
  job.left_out.step = StepOf(request.record);
}

std::vector<ReportLeftOut> DurableRecords::ReportsDue(Timestamp now) {
  std::vector<ReportLeftOut> due;
  for (auto& [job_id, job] : jobs_) {
    const Timestamp since = job.left_out_since_ms;
    const bool is_due = since != 0 && HasPassed(since, since + kFirstReportMs, now) &&
                        HasPassed(job.reported_ms, job.reported_ms + kReportEveryMs, now);
    if (!is_due) continue;
    due.push_back(std::exchange(job.left_out, {}));
    job.left_out_since_ms = 0;
    job.reported_ms = now;
  }
  return due;
}

}  // namespace trainyard::controller
