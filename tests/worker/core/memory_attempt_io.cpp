#include "tests/worker/core/memory_attempt_io.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/worker/core/action_text.h"

namespace trainyard::worker {
namespace {

std::string NameOf(const AttemptKey& key) { return absl::StrCat(key.job_id, "/", key.number); }
std::string NameOf(const RankKey& key) { return absl::StrCat(NameOf(key.attempt), "/", key.rank); }
std::string NameOf(const v1::StartAttempt& command) {
  return absl::StrCat(command.job_id(), "/", command.attempt());
}

}  // namespace

absl::Status MemoryAttemptIo::CreateAttempt(const v1::StartAttempt& command) {
  if (creation.ok()) calls_.push_back("create " + NameOf(command));
  return creation;
}

absl::Status MemoryAttemptIo::Written(const Action& action) {
  if (write.ok()) calls_.push_back(Text(Actions{action})[0]);
  return write;
}

absl::Status MemoryAttemptIo::RememberAttempt(const AttemptKey& attempt) {
  return Written(worker::RememberAttempt{attempt});
}

absl::Status MemoryAttemptIo::RecordFact(const v1::Fact& fact) {
  absl::Status status = Written(worker::RecordFact{fact});
  if (status.ok()) status = facts_.Append(fact);
  return status;
}

absl::Status MemoryAttemptIo::RemoveAttempt(const AttemptKey& attempt) {
  return Written(worker::RemoveAttempt{attempt});
}

void MemoryAttemptIo::AddStreams(const v1::StartAttempt& command) {
  calls_.push_back("add streams " + NameOf(command));
}

void MemoryAttemptIo::RemoveStreams(const AttemptKey& attempt) {
  calls_.push_back("remove streams " + NameOf(attempt));
}

void MemoryAttemptIo::Launch(const v1::StartAttempt&, const RankKey& rank) {
  calls_.push_back("launch " + NameOf(rank));
}

void MemoryAttemptIo::CancelLaunch(const RankKey& rank) {
  calls_.push_back("cancel " + NameOf(rank));
}

void MemoryAttemptIo::Signal(const RankKey& rank, bool kill) {
  calls_.push_back((kill ? "kill " : "term ") + NameOf(rank));
}

void MemoryAttemptIo::SendUserSignal(const RankKey& rank, bool second) {
  calls_.push_back((second ? "usr2 " : "usr1 ") + NameOf(rank));
}

absl::Status MemoryAttemptIo::WriteOrder(const RankKey& rank, const std::string&) {
  if (order_write.ok()) calls_.push_back("order " + NameOf(rank));
  return order_write;
}

void MemoryAttemptIo::Describe(v1::AttemptReport& report) {
  for (v1::RankReport& rank : *report.mutable_ranks()) rank.set_step(step);
}

std::string MemoryAttemptIo::Stacks(int64_t pid) {
  calls_.push_back(absl::StrCat("stacks ", pid));
  return absl::StrCat("threads of process ", pid);
}

void MemoryAttemptIo::Observe(const RankKey& rank) { calls_.push_back("observe " + NameOf(rank)); }

std::vector<std::string> MemoryAttemptIo::Take() { return std::exchange(calls_, {}); }

}  // namespace trainyard::worker
