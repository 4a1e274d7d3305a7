#include "tests/worker/core/action_text.h"

#include "absl/strings/str_cat.h"

namespace trainyard::worker {
namespace {

std::string Name(const AttemptKey& key) { return absl::StrCat(key.job_id, "/", key.number); }
std::string Name(const RankKey& key) { return absl::StrCat(Name(key.attempt), "/", key.rank); }

struct Describe {
  std::string operator()(const CreateAttempt& a) const { return "create " + Name(a.attempt); }
  std::string operator()(const RememberAttempt& a) const { return "attempt " + Name(a.attempt); }
  std::string operator()(const SpawnRank& a) const { return "spawn " + Name(a.rank); }
  std::string operator()(const CancelSpawn& a) const {
    return absl::StrCat("cancel ", Name(a.rank));
  }
  std::string operator()(const SendSignal& a) const {
    return (a.kill ? "kill " : "term ") + Name(a.rank);
  }
  std::string operator()(const RemoveAttempt& a) const { return "remove " + Name(a.attempt); }
  std::string operator()(const RefuseCommand&) const { return "refuse"; }
  std::string operator()(const RecordFact& a) const {
    if (a.fact.has_rank_started()) {
      const auto& fact = a.fact.rank_started();
      return "started " + Name(Rank(fact.job_id(), fact.attempt(), fact.rank()));
    }
    if (a.fact.has_rank_exited()) {
      const auto& fact = a.fact.rank_exited();
      return absl::StrCat("exited ", Name(Rank(fact.job_id(), fact.attempt(), fact.rank())), " ",
                          fact.exit_code());
    }
    const auto& fact = a.fact.attempt_cleared();
    return "cleared " + Name(AttemptKey{fact.job_id(), fact.attempt()});
  }
};

}  // namespace

std::vector<std::string> Text(const Actions& actions) {
  std::vector<std::string> texts;
  for (const Action& action : actions) texts.push_back(std::visit(Describe{}, action));
  return texts;
}

std::vector<std::string> Text(const std::vector<v1::AttemptReport>& reports) {
  std::vector<std::string> texts;
  for (const v1::AttemptReport& report : reports) {
    std::string& text = texts.emplace_back(Name(AttemptKey{report.job_id(), report.attempt()}));
    absl::StrAppend(&text, report.cleared() ? " cleared:" : ":");
    for (const v1::RankReport& rank : report.ranks()) {
      absl::StrAppend(&text, " ", rank.rank(), rank.running() ? " running" : "");
    }
  }
  return texts;
}

v1::StartAttempt StartOf(int64_t job, int64_t attempt_number, int ranks) {
  v1::StartAttempt command;
  command.set_job_id(job);
  command.set_attempt(attempt_number);
  command.set_world_size(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    v1::Process& process = *command.add_processes();
    process.add_slots(rank);
    v1::ProcessRank& member = *process.add_ranks();
    member.set_rank(rank);
    member.set_local_rank(rank);
  }
  return command;
}

v1::StartAttempt LauncherOf(int64_t job, int64_t attempt_number, int ranks) {
  v1::StartAttempt command = StartOf(job, attempt_number, ranks);
  v1::Process launcher;
  for (const v1::Process& process : command.processes()) {
    launcher.add_slots(process.slots(0));
    *launcher.add_ranks() = process.ranks(0);
  }
  command.clear_processes();
  *command.add_processes() = launcher;
  return command;
}

v1::StopAttempt StopOf(int64_t job, int64_t attempt_number, int64_t grace_ms) {
  v1::StopAttempt command;
  command.set_job_id(job);
  command.set_attempt(attempt_number);
  command.mutable_grace()->set_seconds(grace_ms / 1000);
  command.mutable_grace()->set_nanos(static_cast<int32_t>(grace_ms % 1000 * 1'000'000));
  return command;
}

v1::ForgetAttempt ForgetOf(int64_t job, int64_t attempt_number) {
  v1::ForgetAttempt command;
  command.set_job_id(job);
  command.set_attempt(attempt_number);
  return command;
}

v1::RankExited ExitOf(int64_t job, int64_t attempt_number, int rank, int code) {
  v1::RankExited exited;
  exited.set_job_id(job);
  exited.set_attempt(attempt_number);
  exited.set_rank(rank);
  exited.set_exit_code(code);
  return exited;
}

RankKey Rank(int64_t job, int64_t attempt_number, int rank) {
  return {{job, attempt_number}, rank};
}

Attempts Running(int64_t attempt_number, int ranks) {
  Attempts attempts;
  attempts.Start(StartOf(1, attempt_number, ranks), 0);
  for (int rank = 0; rank < ranks; ++rank) {
    attempts.RankSpawned(Rank(1, attempt_number, rank), 100, 5);
  }
  return attempts;
}

}  // namespace trainyard::worker
