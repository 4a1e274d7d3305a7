#include "tests/simulation/store/node.h"

#include <algorithm>

#include "proto/contract/leader_term.h"
#include "worker/core/processes.h"

namespace trainyard::simulation {
namespace {

constexpr int kNodeSlots = 4;
constexpr int64_t kNodeStepMs = 100;
constexpr int64_t kHeartbeatMs = 1'000;
constexpr int64_t kWelcomeMs = 5'000;
constexpr int64_t kShortestDialMs = 100;
constexpr int64_t kLongestDialMs = 800;

}  // namespace

void Node::Step() {
  world_.agenda.After(kNodeStepMs, [this] { Step(); });
  const Timestamp now = world_.agenda.now();
  if (link_ == 0) {
    if (now >= dial_at_ms_) Dial();
  } else if (!welcomed_) {
    if (now >= welcome_until_ms_) Disconnect();
  } else if (now >= heartbeat_at_ms_) {
    heartbeat_at_ms_ = now + kHeartbeatMs;
    v1::WorkerMessage message;
    message.mutable_heartbeat()->set_time_ms(now);
    Report(*message.mutable_heartbeat()->mutable_attempts());
    stream_.send(link_, std::move(message));
  }
}

void Node::Dial() {
  link_ = stream_.open();
  welcomed_ = false;
  welcome_until_ms_ = world_.agenda.now() + kWelcomeMs;
  v1::WorkerMessage message;
  v1::Hello& hello = *message.mutable_hello();
  hello.set_node_id(id_);
  hello.set_node_name(id_);
  hello.set_incarnation("1");
  hello.set_address("address-of-" + id_);
  hello.set_time_ms(world_.agenda.now());
  for (int i = 0; i < kNodeSlots; ++i) {
    v1::Slot& slot = *hello.mutable_inventory()->add_slots();
    slot.set_index(i);
    slot.set_kind(v1::DEVICE_KIND_CPU);
  }
  Report(*hello.mutable_attempts());
  if (seen_log_.newest().sequence() != 0) *hello.mutable_log_mark() = seen_log_.newest();
  if (sends_term_) SetLeaderTerm(fence_.highest(), hello);
  stream_.send(link_, std::move(message));
}

void Node::Disconnect() {
  const int64_t link = std::exchange(link_, 0);
  welcomed_ = false;
  dial_at_ms_ = world_.agenda.now() + world_.random.Between(kShortestDialMs, kLongestDialMs);
  stream_.close(link);
}

void Node::Closed(int64_t link) {
  if (link != 0 && link == link_) Disconnect();
}

void Node::Receive(int64_t link, const v1::ControllerMessage& message) {
  if (link != link_) return;
  if (!fence_.Admit(message).ok()) {
    ++refused_messages_;
    return Disconnect();
  }
  world_.audit.CheckObeyed(id_, message);
  Obey(message);
}

void Node::Obey(const v1::ControllerMessage& message) {
  if (message.has_welcome()) {
    welcomed_ = true;
    seen_log_.Take(message.welcome().log_mark());
    acknowledged_ = message.welcome().fact_sequence();
    return SendFactsAfter(acknowledged_);
  }
  if (!welcomed_) return;
  seen_log_.Take(message);
  if (message.has_start_attempt()) StartAttempt(message.start_attempt());
  if (message.has_stop_attempt()) StopAttempt(message.stop_attempt());
  if (message.has_facts_acknowledged()) {
    acknowledged_ = std::max(acknowledged_, message.facts_acknowledged().fact_sequence());
  }
  if (message.has_forget_attempt()) {
    attempts_.erase({message.forget_attempt().job_id(), message.forget_attempt().attempt()});
  }
}

void Node::StartAttempt(const v1::StartAttempt& command) {
  const AttemptKey key{command.job_id(), command.attempt()};
  const auto [found, is_new] = attempts_.try_emplace(key);
  if (!is_new) return;
  found->second.ranks = worker::RanksOf(command);
  for (const int rank : found->second.ranks) {
    v1::Fact fact;
    v1::RankStarted& started = *fact.mutable_rank_started();
    started.set_job_id(key.job_id);
    started.set_attempt(key.number);
    started.set_rank(rank);
    started.set_pid(1'000 + key.job_id);
    started.set_time_ms(world_.agenda.now());
    AddFact(std::move(fact));
  }
}

void Node::StopAttempt(const v1::StopAttempt& command) {
  attempts_.try_emplace({command.job_id(), command.attempt()});
  for (auto& [key, attempt] : attempts_) {
    const bool stops = key.job_id == command.job_id() && key.number <= command.attempt();
    if (stops && !attempt.cleared) Clear(key, attempt);
  }
}

void Node::Clear(const AttemptKey& key, Attempt& attempt) {
  for (const int rank : attempt.ranks) {
    v1::Fact fact;
    v1::RankExited& exited = *fact.mutable_rank_exited();
    exited.set_job_id(key.job_id);
    exited.set_attempt(key.number);
    exited.set_rank(rank);
    exited.set_signal(15);
    exited.set_time_ms(world_.agenda.now());
    AddFact(std::move(fact));
  }
  attempt.cleared = true;
  v1::Fact fact;
  fact.mutable_attempt_cleared()->set_job_id(key.job_id);
  fact.mutable_attempt_cleared()->set_attempt(key.number);
  AddFact(std::move(fact));
}

void Node::AddFact(v1::Fact fact) {
  fact.set_sequence(facts_.size() + 1);
  facts_.push_back(std::move(fact));
  if (welcomed_) SendFactsAfter(facts_.size() - 1);
}

void Node::SendFactsAfter(uint64_t sequence) {
  for (std::size_t i = sequence; i < facts_.size(); ++i) {
    v1::WorkerMessage message;
    *message.mutable_fact() = facts_[i];
    stream_.send(link_, std::move(message));
  }
}

void Node::Report(google::protobuf::RepeatedPtrField<v1::AttemptReport>& reports) const {
  for (const auto& [key, attempt] : attempts_) {
    v1::AttemptReport& report = *reports.Add();
    report.set_job_id(key.job_id);
    report.set_attempt(key.number);
    report.set_cleared(attempt.cleared);
    for (const int rank : attempt.ranks) {
      v1::RankReport& process = *report.add_ranks();
      process.set_rank(rank);
      process.set_running(!attempt.cleared);
    }
  }
}

}  // namespace trainyard::simulation
