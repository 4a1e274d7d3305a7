#include "tests/simulation/world/training_world.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/jobspec/rules/launch_shape.h"
#include "proto/support/job_kind.h"

namespace trainyard::simulation {
namespace {

constexpr int kLostPeer = 69;
constexpr int kBadCheckpoint = 74;
constexpr int kNotFinite = 76;
constexpr int kFenced = 77;
constexpr int kTerminated = 143;
constexpr int kUnknownExit = 9;  // SIGKILL.
constexpr int64_t kOutputOfStep = 37;

int64_t StepOf(const std::string& checkpoint_path) {
  int64_t step = 0;
  const std::vector<std::string> parts = absl::StrSplit(checkpoint_path, '/');
  return absl::SimpleAtoi(parts.back(), &step) ? step : 0;
}

std::map<int64_t, int64_t> RangesOf(const std::string& text) {
  std::map<int64_t, int64_t> ranges;
  for (const absl::string_view item : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> ends = absl::StrSplit(item, ':');
    int64_t begin = 0, end = 0;
    if (absl::SimpleAtoi(ends.first, &begin) && absl::SimpleAtoi(ends.second, &end)) {
      ranges[begin] = end;
    }
  }
  return ranges;
}

// Returns the position of sample number `sample`, not counting the positions in skipped ranges.
int64_t PositionOf(int64_t sample, const std::map<int64_t, int64_t>& skip) {
  for (const auto& [begin, end] : skip) {
    if (sample < begin) break;
    sample += end - begin;
  }
  return sample;
}

// Returns a loss that decreases as the step grows, plus a little noise that depends only on the
// step.
double LossOf(int64_t step) {
  return 2 + 3.0 / static_cast<double>(step) + 0.05 * static_cast<double>(step * 7 % 5);
}

// Returns the slowdown factor of the slowest rank, because all ranks wait for that rank.
int SlowestFactor(const std::map<int, Process*>& gang, Timestamp now) {
  int factor = 1;
  for (const auto& [rank, process] : gang) {
    if (now < process->slow_until_ms) factor = std::max(factor, process->slow_factor);
  }
  return factor;
}

}  // namespace

std::string OutputBetween(int64_t begin, int64_t end) {
  std::string text;
  for (int64_t i = begin; i < end; ++i) text.push_back(static_cast<char>('a' + i % 26));
  return text;
}

const Process* TrainingWorld::Find(const std::string& node_id, const AttemptKey& attempt,
                                   int rank) const {
  const auto found = processes_.find({node_id, attempt, rank});
  return found == processes_.end() ? nullptr : &found->second;
}

const Process* TrainingWorld::FindRank(const AttemptKey& attempt, int rank) const {
  const auto members = members_.find(attempt);
  if (members == members_.end()) return nullptr;
  const auto member = members->second.find(rank);
  return member == members->second.end() ? nullptr : &processes_.at(member->second);
}

void TrainingWorld::EndAt(Process& process, Timestamp when, int exit_code, int signal) {
  if (process.ends_at_ms != 0 && process.ends_at_ms <= when) return;
  process.ends_at_ms = when;
  process.exit_code = exit_code;
  process.signal = signal;
}

void TrainingWorld::SetPhase(Process& process, const std::string& phase, int64_t step,
                             Timestamp now) {
  process.phase = phase;
  process.step = std::max(process.step, step);
  process.last_activity_ms = now;
  v1::TelemetryRecord& record = process.telemetry.emplace_back();
  record.set_time_ms(now);
  record.mutable_phase()->set_phase(phase);
  record.mutable_phase()->set_step(step);
}

void TrainingWorld::Spawn(const std::string& node_id, const v1::StartAttempt& command, int rank,
                          Timestamp now) {
  const AttemptKey attempt{command.job_id(), command.attempt()};
  const ProcessKey key{node_id, attempt, rank};
  if (processes_.contains(key)) started_twice_.push_back(key);
  Process& process = processes_[key];
  process.node_id = node_id;
  process.attempt = attempt;
  process.rank = rank;
  for (const v1::Process& started : command.processes()) {
    if (started.ranks(0).rank() != rank) continue;
    process.slots.assign(started.slots().begin(), started.slots().end());
  }
  process.started_ms = now;
  process.ignores_sigterm = random_.Chance(options_.ignore_sigterm);
  const bool standby = rank >= command.world_size();
  if (!standby) process.place = rank;
  process.generation = standby ? 0 : 1;
  SetPhase(process, standby ? "standby" : "init", 0, now);
  members_[attempt][rank] = key;
  GangRun& gang = gangs_[attempt];
  gang.world_size = command.world_size() / RanksPerProcess(command.spec());
  gang.resume_from = command.resume_from();
  // A standby may start after the gang has loaded its state.
  if (!gang.loaded) gang.step = gang.first_step = StepOf(gang.resume_from);
  const auto steps = options_.steps_of.find(attempt.job_id);
  gang.total_steps = steps == options_.steps_of.end() ? options_.total_steps : steps->second;
  gang.skip = RangesOf(command.skip_samples());
  gang.done = false;
  gang.heals = command.spec().restart().spares() > 0;
  gang.saves_at_stop = options_.save_at_stop && ProgramRulesOf(command.spec()).stops_without_loss;
  // A trainer raises the fence when it starts.
  int64_t& fence = fence_[command.job_id()];
  fence = std::max(fence, command.attempt());
}

void TrainingWorld::Signal(const std::string& node_id, const AttemptKey& attempt, int rank,
                           bool kill, Timestamp now) {
  const auto found = processes_.find({node_id, attempt, rank});
  if (found == processes_.end() || found->second.exited.has_value()) return;
  Process& process = found->second;
  if (kill) {
    EndAt(process, now + 10, 0, 9);
  } else if (!process.ignores_sigterm && !process.hangs) {
    const bool waits = process.generation == 0;
    SaveAtStop(attempt, process, now);
    EndAt(process, now + random_.Between(10, 800), waits ? 0 : kTerminated, 0);
  }
}

void TrainingWorld::WriteOrder(const ProcessKey& key, HealOrder order) {
  const auto found = processes_.find(key);
  if (found != processes_.end()) found->second.order = std::move(order);
}

void TrainingWorld::Sweep(const std::string& node_id, const AttemptKey& attempt, int rank,
                          Timestamp now) {
  const auto found = processes_.find({node_id, attempt, rank});
  if (found == processes_.end() || found->second.children_end_at_ms != 0) return;
  found->second.children_end_at_ms = now + random_.Between(10, 3000);
}

void TrainingWorld::KillShim(const ProcessKey& key) {
  Process& process = processes_.at(key);
  process.has_shim = false;
  process.has_children = random_.Chance(0.5);
  hurt_.insert(process.attempt);
}

void TrainingWorld::RemoveFiles(const std::string& node_id, const AttemptKey& attempt) {
  for (auto process = processes_.lower_bound({node_id, attempt, 0});
       process != processes_.end() && process->second.node_id == node_id &&
       process->second.attempt == attempt;
       ++process) {
    removed_.push_back(process->first);
  }
}

void TrainingWorld::CrashRank(const ProcessKey& key, int exit_code, int signal, Timestamp now) {
  Process& process = processes_.at(key);
  hurt_.insert(process.attempt);
  EndAt(process, now, exit_code, signal);
}

void TrainingWorld::SlowRank(const ProcessKey& key, int factor, Timestamp until) {
  Process& process = processes_.at(key);
  process.slow_factor = factor;
  process.slow_until_ms = until;
}

bool TrainingWorld::MayHang(const Process& process) const {
  const GangRun& gang = gangs_.at(process.attempt);
  const bool trains = process.phase == "train" && gang.step > gang.first_step &&
                      gang.step < gang.total_steps && !gang.broken;
  return trains && process.ends_at_ms == 0 && !hung_.contains(process.attempt);
}

bool TrainingWorld::HangRank(const ProcessKey& key) {
  Process& process = processes_.at(key);
  if (!MayHang(process)) return false;
  hung_.emplace(process.attempt, process.rank);
  process.hangs = true;
  hurt_.insert(process.attempt);
  return true;
}

bool TrainingWorld::LeaveGang(const ProcessKey& key, Timestamp now) {
  Process& process = processes_.at(key);
  const GangRun& gang = gangs_.at(process.attempt);
  if (!MayHang(process) || gang.world_size == 1 || gang.heals) return false;
  hung_.emplace(process.attempt, process.rank);
  hurt_.insert(process.attempt);
  EndAt(process, now, 0, 0);
  return true;
}

void TrainingWorld::CrashNode(const std::string& node_id) {
  gone_.insert(node_id);
  for (auto process = processes_.begin(); process != processes_.end();) {
    if (process->second.node_id != node_id) {
      ++process;
      continue;
    }
    const AttemptKey attempt = process->second.attempt;
    hurt_.insert(attempt);
    // A rank must not train together with a standby that is still waiting for an order.
    gangs_.at(attempt).broken |= process->second.generation > 0;
    members_.at(attempt).erase(process->second.rank);
    process = processes_.erase(process);
  }
}

void TrainingWorld::DamageCheckpoint() {
  if (published_.empty()) return;
  damaged_.insert(published_[random_.Between(0, static_cast<int64_t>(published_.size()) - 1)]);
}

void TrainingWorld::IsolateNode(const std::string& node_id) { isolated_.insert(node_id); }

std::vector<TrainingWorld::ProcessKey> TrainingWorld::RunningOn(const std::string& node_id) const {
  std::vector<ProcessKey> keys;
  for (auto process = processes_.lower_bound({node_id, {}, 0});
       process != processes_.end() && process->second.node_id == node_id; ++process) {
    if (!process->second.exited.has_value()) keys.push_back(process->first);
  }
  return keys;
}

std::map<int, Process*> TrainingWorld::Members(const AttemptKey& attempt) {
  std::map<int, Process*> members;
  for (const auto& [rank, key] : members_[attempt]) members[rank] = &processes_.at(key);
  return members;
}

void TrainingWorld::Advance(Timestamp now) {
  for (auto& [key, process] : processes_) {
    const Timestamp end = process.children_end_at_ms;
    if (end != 0 && end <= now) process.leaves_children = false;
  }
  for (auto& [attempt, gang] : gangs_) {
    if (gang.done) continue;
    if (gang.heals) {
      AdvanceHealing(attempt, gang, now);
    } else {
      AdvanceGang(attempt, gang, now);
    }
  }
}

bool TrainingWorld::EndIfDue(const AttemptKey& attempt, int rank, Process& process, Timestamp now) {
  if (process.ends_at_ms == 0 || process.ends_at_ms > now) return false;
  v1::RankExited& exited = process.exited.emplace();
  exited.set_job_id(attempt.job_id);
  exited.set_attempt(attempt.number);
  exited.set_rank(rank);
  exited.set_exit_code(process.has_shim ? process.exit_code : 0);
  exited.set_signal(process.has_shim ? process.signal : kUnknownExit);
  process.leaves_children = !process.has_shim && process.has_children;
  exited.set_time_ms(now);
  process.last_activity_ms = now;
  return true;
}

void TrainingWorld::AdvanceGang(const AttemptKey& attempt, GangRun& gang, Timestamp now) {
  const std::map<int, Process*> members = Members(attempt);
  int running = 0;
  bool isolated = false;
  bool hangs = false;
  for (const auto& [rank, process] : members) {
    if (process->exited.has_value()) continue;
    if (EndIfDue(attempt, rank, *process, now)) {
      if (process->exit_code != 0 || process->signal != 0) gang.broken = true;
      continue;
    }
    ++running;
    hangs |= process->hangs;
    isolated |= isolated_.contains(process->node_id);
  }
  if (running == 0) {
    gang.done = gang.broken || static_cast<int>(members.size()) == gang.world_size;
    return;
  }
  if (isolated && gang.world_size > 1) {
    hurt_.insert(attempt);
    were_isolated_.insert(attempt);
    return;
  }
  if (gang.broken) return BreakGang(gang, members, now);
  if (running == gang.world_size && !hangs) TakeStep(attempt, gang, members, now);
}

void TrainingWorld::BreakGang(GangRun& gang, const std::map<int, Process*>& members,
                              Timestamp now) {
  for (const auto& [rank, process] : members) {
    if (process->exited.has_value() || process->stuck || process->hangs) continue;
    // Decides only once whether the rank hangs, because a hanging rank writes no further records.
    process->stuck = true;
    if (!random_.Chance(options_.hang_without_peer)) {
      EndAt(*process, now + random_.Between(50, 1500), kLostPeer, 0);
    }
  }
  gang.next_step_ms = 0;
}

void TrainingWorld::Load(const AttemptKey& attempt, GangRun& gang,
                         const std::map<int, Process*>& members, Timestamp now) {
  gang.loaded = true;
  if (!IsDamaged(gang.resume_from)) return;
  // One rank detects the damage, or several ranks detect the damage simultaneously.
  hurt_.insert(attempt);
  const auto finder = std::next(members.begin(), random_.Between(0, gang.world_size - 1))->first;
  for (const auto& [rank, process] : members) {
    if (rank == finder || random_.Chance(0.2)) EndAt(*process, now, kBadCheckpoint, 0);
  }
}

bool TrainingWorld::TakeSample(const AttemptKey& attempt, GangRun& gang,
                               const std::map<int, Process*>& members, double& loss,
                               Timestamp now) {
  const int64_t position = PositionOf(gang.step - 1, gang.skip);
  const auto poison = options_.poison.find(position);
  if (poison == options_.poison.end()) return true;
  meetings_.push_back({attempt, gang.step, position});
  loss = poison->second == Poison::kSpike ? 40 : std::numeric_limits<double>::quiet_NaN();
  if (poison->second != Poison::kExit) return true;
  hurt_.insert(attempt);
  v1::TelemetryRecord& record = members.at(0)->telemetry.emplace_back();
  record.set_time_ms(now);
  record.mutable_alert()->set_step(gang.step);
  record.mutable_alert()->set_code("nan_loss");
  record.mutable_alert()->mutable_samples()->set_begin(position);
  record.mutable_alert()->mutable_samples()->set_end(position + 1);
  for (const auto& [rank, process] : members) {
    EndAt(*process, now + random_.Between(1, 300), kNotFinite, 0);
  }
  return false;
}

bool TrainingWorld::MeetsBug(const AttemptKey& attempt, const GangRun& gang,
                             const std::map<int, Process*>& members, Timestamp now) {
  const auto bug = options_.bugs.find(attempt.job_id);
  if (bug == options_.bugs.end() || bug->second != gang.step) return false;
  hurt_.insert(attempt);
  met_bug_.insert(attempt);
  EndAt(*members.at(0), now, kExitCodeOfBug, 0);
  return true;
}

void TrainingWorld::TakeStep(const AttemptKey& attempt, GangRun& gang,
                             const std::map<int, Process*>& members, Timestamp now) {
  if (gang.complete_since_ms == 0) gang.complete_since_ms = now;
  if (now < gang.complete_since_ms + options_.load_ms || now < gang.next_step_ms) return;
  if (!gang.loaded) return Load(attempt, gang, members, now);
  if (MeetsBug(attempt, gang, members, now)) return;
  const int64_t step_ms = SlowestFactor(members, now) * options_.step_ms;
  gang.next_step_ms = now + step_ms;
  ++gang.step;
  double loss = LossOf(gang.step);
  if (!TakeSample(attempt, gang, members, loss, now)) {
    gang.next_step_ms = std::numeric_limits<Timestamp>::max();
    return;
  }
  for (const auto& [rank, process] : members) {
    if (process->phase != "train") {
      process->init_ms = now - process->started_ms;
      SetPhase(*process, "train", gang.step, now);
    }
    process->output_bytes += kOutputOfStep;
    process->made_step = gang.step;
    if (rank != 0 && !options_.all_ranks_write) continue;
    process->step = gang.step;
    process->last_activity_ms = now;
    v1::TelemetryRecord& record = process->telemetry.emplace_back();
    record.set_time_ms(now);
    record.mutable_metrics()->set_step(gang.step);
    record.mutable_metrics()->set_total_steps(gang.total_steps);
    (*record.mutable_metrics()->mutable_values())["step_seconds"] =
        static_cast<double>(step_ms) / 1000;
    if (rank != 0) continue;
    (*record.mutable_metrics()->mutable_values())["loss"] = loss;
    const int64_t position = PositionOf(gang.step - 1, gang.skip);
    record.mutable_metrics()->mutable_samples()->set_begin(position);
    record.mutable_metrics()->mutable_samples()->set_end(position + 1);
  }
  if (gang.step % options_.alert_every == 0) {
    v1::TelemetryRecord& record = members.at(0)->telemetry.emplace_back();
    record.set_time_ms(now);
    record.mutable_alert()->set_step(gang.step);
    record.mutable_alert()->set_code("every_now_and_then");
  }
  if (gang.step % options_.checkpoint_every == 0) Publish(attempt, gang, *members.at(0), now);
  if (gang.step < gang.total_steps) return;
  for (const auto& [rank, process] : members) EndAt(*process, now + random_.Between(1, 400), 0, 0);
}

void TrainingWorld::SaveAtStop(const AttemptKey& attempt, Process& process, Timestamp now) {
  GangRun& gang = gangs_.at(attempt);
  const bool trains = process.place == 0 && process.phase == "train" && process.ends_at_ms == 0;
  if (!gang.saves_at_stop || !trains || gang.broken) return;
  if (fence_.at(attempt.job_id) > attempt.number) return;
  if (gang.step % options_.checkpoint_every != 0) Publish(attempt, gang, process, now);
  saved_at_stop_.insert(attempt);
  gang.next_step_ms = std::numeric_limits<Timestamp>::max();
}

void TrainingWorld::Publish(const AttemptKey& attempt, const GangRun& gang, Process& rank0,
                            Timestamp now) {
  if (fence_.at(attempt.job_id) > attempt.number) return EndAt(rank0, now, kFenced, 0);
  v1::TelemetryRecord& record = rank0.telemetry.emplace_back();
  record.set_time_ms(now);
  record.mutable_checkpoint()->set_step(gang.step);
  const std::string path = absl::StrCat("/c/", attempt.job_id, "/", gang.step);
  record.mutable_checkpoint()->set_path(path);
  if (damaged_.erase(path) == 0) published_.push_back(path);
}

}  // namespace trainyard::simulation
