#include "worker/core/attempts.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/core/processes.h"

namespace trainyard::worker {
namespace {

template <typename Message>
AttemptKey KeyOf(const Message& message) {
  return {message.job_id(), message.attempt()};
}

std::string Name(const AttemptKey& key) {
  return absl::StrCat("job ", key.job_id, " attempt ", key.number);
}

Timestamp ToMs(const google::protobuf::Duration& duration) {
  return duration.seconds() * 1000 + duration.nanos() / 1'000'000;
}

// Names the other ranks of the process in a fact about its first rank. One fact for all ranks of a
// process is written to disk as a whole.
template <typename FactAboutRank>
void AddFurtherRanks(const v1::StartAttempt& command, FactAboutRank& fact) {
  for (const int rank : RanksBeside(command, fact.rank())) {
    if (rank != fact.rank()) fact.add_further_ranks(rank);
  }
}

}  // namespace

void Attempts::Restore(const SeenAttempts& seen_attempts,
                       const std::vector<v1::StartAttempt>& on_disk,
                       const std::vector<v1::Fact>& facts,
                       const std::vector<v1::StartAttempt>& lost) {
  seen_attempts_ = seen_attempts;
  attempts_.clear();
  for (const v1::StartAttempt& command : on_disk) RestoreOne(command);
  for (const v1::StartAttempt& command : lost) {
    RestoreOne(command);
    attempts_[KeyOf(command)].lost = true;
  }
  for (const v1::Fact& fact : facts) ApplyFact(fact);
}

void Attempts::RestoreOne(const v1::StartAttempt& command) {
  Attempt& attempt = attempts_[KeyOf(command)];
  attempt.command = command;
  for (const int rank : FirstRanksOf(command)) attempt.ranks[rank].stage = Stage::kUnresolved;
  seen_attempts_.Raise(command.job_id(), command.attempt());
}

void Attempts::ApplyFact(const v1::Fact& fact) {
  if (fact.has_rank_started()) {
    const v1::RankStarted& started = fact.rank_started();
    if (Rank* rank = FindRank({KeyOf(started), started.rank()})) rank->started_recorded = true;
  } else if (fact.has_rank_exited()) {
    const v1::RankExited& exited = fact.rank_exited();
    if (Rank* rank = FindRank({KeyOf(exited), exited.rank()}))
      rank->stage = Rank::StageAfter(exited);
  } else if (fact.has_attempt_cleared()) {
    const auto found = attempts_.find(KeyOf(fact.attempt_cleared()));
    if (found == attempts_.end()) return;
    found->second.cleared = true;
    for (auto& [number, rank] : found->second.ranks) {
      if (rank.stage == Stage::kUnresolved) rank.stage = Stage::kCancelled;
      if (rank.stage == Stage::kExiting) rank.stage = Stage::kGone;
    }
  }
}

Actions Attempts::Start(const v1::StartAttempt& command, Timestamp now) {
  const AttemptKey key = KeyOf(command);
  if (const std::string contradiction = Contradiction(command); !contradiction.empty()) {
    return {RefuseCommand{absl::StrCat("start of ", Name(key), ": ", contradiction)}};
  }
  if (const auto known = attempts_.find(key); known != attempts_.end()) {
    Actions actions;
    // The controller has acknowledged AttemptCleared but still sends the start command. Either the
    // controller has lost the fact, or it acknowledged the fact before it placed the attempt.
    if (known->second.cleared_acknowledged) RecordCleared(key, known->second, actions);
    return actions;
  }
  const int64_t seen = NewestSeen(key.job_id);
  if (key.number <= seen) {
    // The controller does not know that this attempt has run, because its store was restored from a
    // backup. The controller would repeat the command forever, so answer with AttemptCleared: this
    // node has no process of the attempt.
    attempts_[key].command.set_job_id(key.job_id);
    attempts_[key].command.set_attempt(key.number);
    Actions actions = {RefuseCommand{
        absl::StrCat("start of ", Name(key), ": attempt ", seen, " of this job was already seen")}};
    RecordCleared(key, attempts_[key], actions);
    return actions;
  }
  Actions actions = {CreateAttempt{key}};
  Attempt& attempt = attempts_[key];
  attempt.command = command;
  for (const int rank : FirstRanksOf(command)) attempt.ranks[rank] = Rank{};
  RaiseSeenAttempt(key, actions);
  for (auto& [other_key, other] : attempts_) {
    if (other_key.job_id == key.job_id && other_key.number < key.number) {
      StopOne(other_key, other, 0, now, actions);
    }
  }
  Advance(key.job_id, actions);
  return actions;
}

Actions Attempts::Stop(const v1::StopAttempt& command, Timestamp now) {
  const AttemptKey key = KeyOf(command);
  if (key.job_id <= 0 || key.number <= 0) {
    return {RefuseCommand{"stop: job id and attempt must be positive"}};
  }
  Actions actions;
  RaiseSeenAttempt(key, actions);
  if (attempts_.try_emplace(key).second) {
    attempts_[key].command.set_job_id(key.job_id);
    attempts_[key].command.set_attempt(key.number);
  }
  const Timestamp grace_ms = std::max<Timestamp>(0, ToMs(command.grace()));
  for (auto& [other_key, other] : attempts_) {
    if (other_key.job_id == key.job_id && other_key.number <= key.number) {
      StopOne(other_key, other, grace_ms, now, actions);
    }
  }
  Advance(key.job_id, actions);
  return actions;
}

Actions Attempts::StopAll(Timestamp grace_ms_max, Timestamp now) {
  Actions actions;
  std::set<int64_t> jobs;
  for (auto& [key, attempt] : attempts_) {
    const Timestamp grace_ms = ToMs(attempt.command.spec().stop_grace());
    StopOne(key, attempt, std::clamp<Timestamp>(grace_ms, 0, grace_ms_max), now, actions);
    jobs.insert(key.job_id);
  }
  for (const int64_t job_id : jobs) Advance(job_id, actions);
  return actions;
}

Actions Attempts::Forget(const v1::ForgetAttempt& command) {
  const AttemptKey key = KeyOf(command);
  const auto found = attempts_.find(key);
  if (found == attempts_.end()) return {};
  if (!found->second.cleared) {
    return {RefuseCommand{absl::StrCat("forget ", Name(key), ": the attempt still has processes")}};
  }
  const bool has_files = !found->second.ranks.empty();
  attempts_.erase(found);
  if (!has_files) return {};
  return {RemoveAttempt{key}};
}

int64_t Attempts::NewestSeen(int64_t job_id) const {
  const auto behind = attempts_.upper_bound({job_id, INT64_MAX});
  const bool on_node = behind != attempts_.begin() && std::prev(behind)->first.job_id == job_id;
  return std::max(seen_attempts_.Of(job_id), on_node ? std::prev(behind)->first.number : 0);
}

std::vector<RankKey> Attempts::OrdersDue(const v1::HealAttempt& command) const {
  const auto attempt = attempts_.find(KeyOf(command));
  if (attempt == attempts_.end() || attempt->second.stopping) return {};
  std::vector<RankKey> due;
  for (const v1::RankOrder& order : command.orders()) {
    const auto rank = attempt->second.ranks.find(order.rank());
    if (rank == attempt->second.ranks.end()) continue;
    const Stage stage = rank->second.stage;
    const bool runs = stage == Stage::kRunning || stage == Stage::kUnresolved;
    const bool is_new = rank->second.ordered_generation < command.generation();
    if (runs && is_new) due.push_back({attempt->first, order.rank()});
  }
  return due;
}

std::vector<RankKey> Attempts::WarningsDue(const v1::WarnAttempt& command) {
  const auto attempt = attempts_.find(KeyOf(command));
  if (attempt == attempts_.end() || attempt->second.stopping) return {};
  std::vector<RankKey> due;
  for (auto& [number, rank] : attempt->second.ranks) {
    if (rank.stage != Stage::kRunning || rank.warning >= command.number()) continue;
    rank.warning = command.number();
    due.push_back({attempt->first, number});
  }
  return due;
}

void Attempts::OrderWritten(const RankKey& key, int64_t generation) {
  if (Rank* rank = FindRank(key)) rank->ordered_generation = generation;
}

void Attempts::RaiseSeenAttempt(const AttemptKey& key, Actions& actions) {
  if (!seen_attempts_.Raise(key.job_id, key.number)) return;
  actions.push_back(RememberAttempt{key});
}

void Attempts::StopOne(const AttemptKey& key, Attempt& attempt, Timestamp grace_ms, Timestamp now,
                       Actions& actions) {
  if (attempt.cleared) return;
  for (auto& [number, rank] : attempt.ranks) {
    if (rank.stage == Stage::kWaiting) rank.stage = Stage::kCancelled;
    if (rank.stage == Stage::kSpawning && !attempt.stopping) {
      actions.push_back(CancelSpawn{{key, number}});
    }
  }
  const Timestamp kill_at_ms = now + grace_ms;
  if (attempt.killing) return;
  if (attempt.stopping) {
    attempt.kill_at_ms = std::min(attempt.kill_at_ms, kill_at_ms);
  } else {
    attempt.stopping = true;
    attempt.kill_at_ms = kill_at_ms;
    if (grace_ms > 0) SignalAlive(key, attempt, false, actions);
  }
  KillIfDue(key, attempt, now, actions);
}

void Attempts::KillIfDue(const AttemptKey& key, Attempt& attempt, Timestamp now, Actions& actions) {
  if (!attempt.stopping || attempt.cleared || now < attempt.kill_at_ms) return;
  attempt.killing = true;
  attempt.kill_at_ms = now + kKillAgainMs;
  SignalAlive(key, attempt, true, actions);
}

Actions Attempts::RankKilled(const RankKey& key, bool waits_in_kernel, Timestamp now) {
  Rank* rank = FindRank(key);
  Actions actions;
  if (rank != nullptr && rank->Killed(waits_in_kernel, now)) Advance(key.attempt.job_id, actions);
  return actions;
}

void Attempts::SignalAlive(const AttemptKey& key, const Attempt& attempt, bool kill,
                           Actions& actions) {
  for (const auto& [number, rank] : attempt.ranks) {
    const bool has_rest = kill && rank.stage == Stage::kExiting;
    if (rank.stage == Stage::kRunning || has_rest) {
      actions.push_back(SendSignal{{key, number}, kill});
    }
  }
}

void Attempts::RecordStarted(const RankKey& key, Rank& rank, int64_t pid, Timestamp time_ms,
                             Actions& actions) {
  if (rank.started_recorded) return;
  rank.started_recorded = true;
  v1::Fact fact;
  v1::RankStarted& started = *fact.mutable_rank_started();
  started.set_job_id(key.attempt.job_id);
  started.set_attempt(key.attempt.number);
  started.set_rank(key.rank);
  started.set_pid(pid);
  started.set_time_ms(time_ms);
  AddFurtherRanks(attempts_.at(key.attempt).command, started);
  actions.push_back(RecordFact{std::move(fact)});
}

Actions Attempts::RankSpawned(const RankKey& key, int64_t pid, Timestamp started_ms) {
  Rank* rank = FindRank(key);
  if (rank == nullptr) return {};
  if (rank->stage != Stage::kSpawning && rank->stage != Stage::kUnresolved) return {};
  rank->stage = Stage::kRunning;
  rank->pid = pid;
  Actions actions;
  RecordStarted(key, *rank, pid, started_ms, actions);
  const Attempt& attempt = attempts_.at(key.attempt);
  if (attempt.stopping) actions.push_back(SendSignal{key, attempt.killing});
  return actions;
}

void Attempts::SpawnUncertain(const RankKey& key) {
  Rank* rank = FindRank(key);
  if (rank != nullptr && rank->stage == Stage::kSpawning) rank->stage = Stage::kUnresolved;
}

Actions Attempts::RankNeverSpawned(const RankKey& key) {
  Rank* rank = FindRank(key);
  // If the rank's exit is recorded and its files are gone, the rank has no processes left.
  if (rank != nullptr && rank->stage == Stage::kExiting) return RankGone(key);
  if (rank == nullptr || rank->stage != Stage::kUnresolved) return {};
  const Attempt& attempt = attempts_.at(key.attempt);
  const bool superseded = NewestSeen(key.attempt.job_id) > key.attempt.number;
  const bool unwanted = attempt.stopping || attempt.lost || superseded;
  rank->stage = unwanted ? Stage::kCancelled : Stage::kWaiting;
  Actions actions;
  Advance(key.attempt.job_id, actions);
  return actions;
}

Actions Attempts::CreationFailed(const AttemptKey& key, const std::string& error,
                                 v1::StartFault fault, Timestamp time_ms) {
  Actions actions;
  const v1::StartAttempt* command = CommandOf(key);
  if (command == nullptr) return actions;
  for (const int rank : FirstRanksOf(*command)) {
    v1::RankExited exited;
    exited.set_job_id(key.job_id);
    exited.set_attempt(key.number);
    exited.set_rank(rank);
    exited.set_exit_code(kSpawnFailedExitCode);
    exited.set_spawn_error(error);
    exited.set_start_fault(fault);
    exited.set_time_ms(time_ms);
    std::ranges::move(RankEnded(exited), std::back_inserter(actions));
  }
  return actions;
}

Actions Attempts::RankEnded(const v1::RankExited& exited) {
  const RankKey key = {KeyOf(exited), exited.rank()};
  Rank* rank = FindRank(key);
  if (rank == nullptr || !rank->IsAlive() || rank->stage == Stage::kExiting) return {};
  rank->stage = Rank::StageAfter(exited);
  Actions actions;
  v1::Fact fact;
  *fact.mutable_rank_exited() = exited;
  AddFurtherRanks(attempts_.at(key.attempt).command, *fact.mutable_rank_exited());
  actions.push_back(RecordFact{std::move(fact)});
  Advance(key.attempt.job_id, actions);
  return actions;
}

Actions Attempts::RankGone(const RankKey& key) {
  Rank* rank = FindRank(key);
  if (rank == nullptr || rank->stage != Stage::kExiting) return {};
  rank->stage = Stage::kGone;
  Actions actions;
  Advance(key.attempt.job_id, actions);
  return actions;
}

void Attempts::Advance(int64_t job_id, Actions& actions) {
  const auto end = attempts_.upper_bound({job_id, INT64_MAX});
  for (auto it = attempts_.lower_bound({job_id, 0}); it != end; ++it) {
    auto& [key, attempt] = *it;
    if (attempt.cleared) continue;
    const auto is_alive = [](const auto& rank) { return rank.second.IsAlive(); };
    const auto may_run = [](const auto& rank) { return rank.second.MayRun(); };
    if (std::any_of(attempt.ranks.begin(), attempt.ranks.end(), may_run)) {
      for (auto& [number, rank] : attempt.ranks) {
        if (rank.stage != Stage::kWaiting) continue;
        rank.stage = Stage::kSpawning;
        actions.push_back(SpawnRank{{key, number}});
      }
      return;
    }
    if (std::any_of(attempt.ranks.begin(), attempt.ranks.end(), is_alive)) continue;
    RecordCleared(key, attempt, actions);
  }
}

void Attempts::RecordCleared(const AttemptKey& key, Attempt& attempt, Actions& actions) {
  attempt.cleared = true;
  attempt.cleared_acknowledged = false;
  v1::Fact fact;
  fact.mutable_attempt_cleared()->set_job_id(key.job_id);
  fact.mutable_attempt_cleared()->set_attempt(key.number);
  actions.push_back(RecordFact{std::move(fact)});
}

void Attempts::ClearedAcknowledged(const AttemptKey& key) {
  const auto found = attempts_.find(key);
  if (found == attempts_.end()) return;
  found->second.cleared_acknowledged = true;
  if (found->second.ranks.empty()) attempts_.erase(found);
}

Actions Attempts::Tick(Timestamp now) {
  Actions actions;
  for (auto& [key, attempt] : attempts_) {
    if (attempt.lost && !attempt.stopping) StopOne(key, attempt, kLostGraceMs, now, actions);
    KillIfDue(key, attempt, now, actions);
  }
  return actions;
}

const Attempts::Rank* Attempts::FindRank(const RankKey& key) const {
  const auto attempt = attempts_.find(key.attempt);
  if (attempt == attempts_.end()) return nullptr;
  const auto rank = attempt->second.ranks.find(key.rank);
  return rank == attempt->second.ranks.end() ? nullptr : &rank->second;
}

Attempts::Rank* Attempts::FindRank(const RankKey& key) {
  return const_cast<Rank*>(std::as_const(*this).FindRank(key));
}

std::vector<RankKey> Attempts::RanksToObserve() const {
  std::vector<RankKey> keys;
  for (const auto& [key, attempt] : attempts_) {
    for (const auto& [number, rank] : attempt.ranks) {
      const bool unknown = rank.stage == Stage::kWaiting || rank.stage == Stage::kSpawning;
      if (rank.IsAlive() && !unknown) keys.push_back({key, number});
    }
  }
  return keys;
}

bool Attempts::IsGone(const RankKey& key) const {
  const Rank* rank = FindRank(key);
  return rank == nullptr || !rank->IsAlive();
}

bool Attempts::IsLost(const AttemptKey& key) const {
  const auto found = attempts_.find(key);
  return found != attempts_.end() && found->second.lost;
}

bool Attempts::WasStarted(const RankKey& key) const {
  const Rank* rank = FindRank(key);
  return rank != nullptr && rank->started_recorded;
}

bool Attempts::IsSpawning(const RankKey& key) const {
  const Rank* rank = FindRank(key);
  return rank != nullptr && rank->stage == Stage::kSpawning;
}

int64_t Attempts::PidOf(const RankKey& key) const {
  const Rank* rank = FindRank(key);
  return rank != nullptr && rank->stage == Stage::kRunning ? rank->pid : 0;
}

bool Attempts::AnyAlive() const {
  return std::any_of(attempts_.begin(), attempts_.end(), [](const auto& entry) {
    const auto& ranks = entry.second.ranks;
    return std::any_of(ranks.begin(), ranks.end(),
                       [](const auto& rank) { return rank.second.MayRun(); });
  });
}

const v1::StartAttempt* Attempts::CommandOf(const AttemptKey& key) const {
  const auto found = attempts_.find(key);
  if (found == attempts_.end() || found->second.ranks.empty()) return nullptr;
  return &found->second.command;
}

std::vector<RankView> Attempts::Ranks() const {
  std::vector<RankView> views;
  for (const auto& [key, attempt] : attempts_) {
    if (attempt.cleared) continue;
    for (const v1::Process& process : attempt.command.processes()) {
      const auto found = attempt.ranks.find(process.ranks(0).rank());
      if (found == attempt.ranks.end()) continue;
      for (int i = 0; i < process.ranks_size(); ++i) {
        const int slot = i < process.slots_size() ? process.slots(i) : 0;
        views.push_back({{key, process.ranks(i).rank()}, slot, found->second.Name(), i == 0});
      }
    }
  }
  return views;
}

std::vector<v1::AttemptReport> Attempts::Reports() const {
  std::vector<v1::AttemptReport> reports;
  for (const auto& [key, attempt] : attempts_) {
    v1::AttemptReport& report = reports.emplace_back();
    report.set_job_id(key.job_id);
    report.set_attempt(key.number);
    report.set_cleared(attempt.cleared);
    for (const auto& [first, rank] : attempt.ranks) {
      for (const int number : RanksBeside(attempt.command, first)) {
        v1::RankReport& rank_report = *report.add_ranks();
        rank_report.set_rank(number);
        rank_report.set_running(rank.stage == Stage::kRunning || rank.stage == Stage::kUnresolved);
        rank_report.set_ordered_generation(rank.ordered_generation);
        rank_report.set_warning(rank.warning);
        if (rank.unkillable && rank.IsAlive()) rank_report.set_unkillable(rank.UnkillableText());
      }
    }
  }
  return reports;
}

}  // namespace trainyard::worker
