#include "controller/hooks/hook_sender.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "controller/core/event_log/event_job.h"
#include "proto/support/status_macros.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

constexpr int kEventsAtOnce = 256;
// The maximum time between two checks for new events if Wake is not called.
constexpr std::chrono::milliseconds kLongestRest{1000};
// A hook's position is stored after this many events, even if none of them triggered the hook.
constexpr uint64_t kPositionEvery = 1000;
// After this time, Stop begins no further write of a position.
constexpr std::chrono::milliseconds kLastWrites{1000};

// Returns the position in a stored text. Returns `newest` for a position of another cluster, and
// for a position beyond the end of the log (possible after a restore from a backup).
uint64_t PositionIn(const std::string& text, const std::string& cluster_id, uint64_t newest) {
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  uint64_t kept = 0;
  const bool is_ours = words.size() == 2 && words[0] == cluster_id &&
                       absl::SimpleAtoi(words[1], &kept) && kept <= newest;
  return is_ours ? kept : newest;
}

}  // namespace

HookSender::HookSender(EventLog& events, std::string cluster_id, const Clock& clock,
                       HookOptions options, std::function<std::string(int64_t)> job_name)
    : events_(events),
      cluster_id_(std::move(cluster_id)),
      clock_(clock),
      options_(std::move(options)),
      job_name_(std::move(job_name)) {
  for (const HookRule& rule : options_.rules) {
    Hook& hook = *hooks_.emplace_back(std::make_unique<Hook>(rule));
    hook.status.set_name(rule.name);
    hook.status.set_target(rule.Target());
    for (const std::string& kind : rule.on) hook.status.add_on(kind);
  }
}

HookSender::~HookSender() { Stop(); }

absl::StatusOr<uint64_t> HookSender::NewestEvent() const {
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<v1::EventEntry> newest,
                             events_.ReadEventsBefore(0, 0, 1));
  return newest.empty() ? 0 : newest.front().sequence();
}

bool HookSender::FindPosition(Hook& hook) {
  if (options_.positions == nullptr) return true;
  while (true) {
    std::unique_lock access(positions_mutex_);
    if (IsStopping()) return false;
    const auto text = options_.positions->Read(hook.rule.name);
    access.unlock();
    if (text.ok()) hook.position = PositionIn(*text, cluster_id_, hook.position);
    if (text.ok() || absl::IsNotFound(text.status())) break;
    NoteResult(text.status(), hook);
    if (!Pause(kLongestRest)) return false;
  }
  NoteResult(absl::OkStatus(), hook);
  const std::lock_guard lock(mutex_);
  hook.status.set_position(hook.position);
  return true;
}

void HookSender::KeepPosition(Hook& hook) {
  if (options_.positions == nullptr) return;
  const std::lock_guard access(positions_mutex_);
  if (IsStopping()) return;
  const bool failed_before = hook.write_failed;
  const absl::Status kept = WritePosition(hook);
  hook.write_failed = !kept.ok();
  if (kept.ok() && !failed_before) return;
  if (!failed_before) {
    spdlog::warn("cannot store the position of hook {}: {}; it may deliver events again",
                 hook.rule.name, kept.ToString());
  }
  // The error of a failed call takes precedence.
  if (hook.failures == 0) ShowHealth(kept, hook);
}

absl::Status HookSender::WritePosition(Hook& hook) const {
  hook.kept_position = hook.position;
  return options_.positions->Write(hook.rule.name, absl::StrCat(cluster_id_, " ", hook.position));
}

void HookSender::KeepLastPositions() {
  if (options_.positions == nullptr) return;
  const Steady::time_point end = Steady::now() + kLastWrites;
  for (const auto& hook : hooks_) {
    if (!hook->write_failed && hook->position == hook->kept_position) continue;
    if (Steady::now() > end || !WritePosition(*hook).ok()) return;
  }
}

absl::Status HookSender::Start() {
  if (hooks_.empty()) return absl::OkStatus();
  TRAINYARD_ASSIGN_OR_RETURN(const uint64_t newest, NewestEvent());
  for (const auto& hook : hooks_) {
    hook->position = newest;
    hook->kept_position = newest;
    hook->status.set_position(newest);
    hook->thread = std::thread([this, one = hook.get()] { Run(*one); });
  }
  return absl::OkStatus();
}

void HookSender::Stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) return;
  }
  changed_.notify_all();
  for (const auto& hook : hooks_) hook->canceller.Cancel();
  for (const auto& hook : hooks_) {
    if (hook->thread.joinable()) hook->thread.join();
  }
  KeepLastPositions();
}

void HookSender::Wake() {
  {
    const std::lock_guard lock(mutex_);
    ++wakes_;
  }
  changed_.notify_all();
}

std::vector<v1::HookStatus> HookSender::Report() const {
  const std::lock_guard lock(mutex_);
  std::vector<v1::HookStatus> report;
  for (const auto& hook : hooks_) report.push_back(hook->status);
  return report;
}

bool HookSender::Pause(std::chrono::milliseconds time) {
  const auto wait =
      std::chrono::duration_cast<std::chrono::milliseconds>(time * options_.wait_factor);
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, wait, [this] { return stopping_; });
  return !stopping_;
}

bool HookSender::IsStopping() const {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void HookSender::Run(Hook& hook) {
  if (!FindPosition(hook)) return;
  // Stores the position of a new hook, and moves a position from a file into the database.
  KeepPosition(hook);
  uint64_t seen = 0;
  while (true) {
    while (Settle(hook)) {
    }
    if (hook.write_failed) KeepPosition(hook);
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kLongestRest, [&] { return stopping_ || wakes_ != seen; });
    seen = wakes_;
    if (stopping_) return;
  }
}

bool HookSender::Settle(Hook& hook) {
  const auto entries = events_.ReadEventsAfter(hook.position, kEventsAtOnce);
  if (!entries.ok()) {
    NoteResult(entries.status(), hook);
    return false;
  }
  for (const v1::EventEntry& entry : *entries) {
    const std::string kind = KindFor(hook.rule, entry.event());
    if (!kind.empty()) Deliver(kind, entry, hook);
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return false;
      hook.position = entry.sequence();
      hook.status.set_position(entry.sequence());
    }
    // If this fails, a restarted controller or the next leader delivers the events since the last
    // stored position again.
    if (!kind.empty() || hook.position >= hook.kept_position + kPositionEvery) KeepPosition(hook);
  }
  return !entries->empty();
}

void HookSender::Deliver(const std::string& kind, const v1::EventEntry& entry, Hook& hook) {
  const int64_t job_id = JobIdOf(entry.event());
  const HookNotice notice =
      NoticeOf(kind, entry, cluster_id_, job_id == 0 ? "" : job_name_(job_id));
  while (true) {
    const absl::Status result = CallHook(hook.rule, notice, hook.process, hook.canceller);
    if (absl::IsCancelled(result)) return;
    NoteResult(result, hook);
    if (CountCall(result, entry.event().time_ms(), hook)) return;
    if (!Pause(RetryWait(hook.failures))) return;
  }
}

bool HookSender::CountCall(const absl::Status& result, Timestamp event_ms, Hook& hook) {
  const std::lock_guard lock(mutex_);
  if (result.ok()) {
    hook.status.set_delivered(hook.status.delivered() + 1);
    return true;
  }
  hook.status.set_failed(hook.status.failed() + 1);
  // Check the limit by both the wall clock and the steady clock, because the wall clock may jump.
  const bool is_old = clock_.Now() - event_ms >= options_.give_up.count();
  if (!is_old || Steady::now() - hook.failing_since < options_.give_up) return false;
  hook.status.set_dropped(hook.status.dropped() + 1);
  spdlog::warn("hook {}: an event was dropped: {}", hook.rule.name, result.ToString());
  return true;
}

void HookSender::NoteResult(const absl::Status& result, Hook& hook) {
  if (result.ok()) {
    hook.failures = 0;
  } else if (++hook.failures == 1) {
    hook.failing_since = Steady::now();
    spdlog::warn("hook {} ({}) fails: {}", hook.rule.name, hook.rule.Target(), result.ToString());
  }
  ShowHealth(result, hook);
}

void HookSender::ShowHealth(const absl::Status& result, Hook& hook) {
  const std::lock_guard lock(mutex_);
  hook.status.set_error(result.ok() ? "" : std::string(result.message()));
  if (result.ok()) {
    hook.status.clear_failing_since_ms();
  } else if (hook.status.failing_since_ms() == 0) {
    hook.status.set_failing_since_ms(clock_.Now());
  }
}

}  // namespace trainyard::controller
