#include "controller/api/job_files/code_sources.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace trainyard::controller {
namespace {

// Short compared with the time of a fetch, so that a free source is found soon.
constexpr int64_t kAskAgainMs = 100;

}  // namespace

CodeSources::Snapshot& CodeSources::SnapshotOf(const std::string& id, int64_t now_ms) {
  if (snapshots_.size() >= limits_.snapshots && !snapshots_.contains(id)) {
    snapshots_.erase(std::ranges::min_element(
        snapshots_, {}, [](const auto& entry) { return entry.second.used_ms; }));
  }
  Snapshot& snapshot = snapshots_[id];
  snapshot.used_ms = now_ms;
  return snapshot;
}

void CodeSources::EndFetch(Snapshot& snapshot, std::map<std::string, Fetch>::iterator fetch) {
  const auto holder = snapshot.holders.find(fetch->second.source);
  if (holder != snapshot.holders.end() && !fetch->second.waits) --holder->second.active;
  snapshot.fetches.erase(fetch);
}

void CodeSources::EndOverdue(Snapshot& snapshot, int64_t now_ms) const {
  for (auto fetch = snapshot.fetches.begin(); fetch != snapshot.fetches.end();) {
    const auto next = std::next(fetch);
    if (now_ms - fetch->second.since_ms > limits_.fetch_ms) EndFetch(snapshot, fetch);
    fetch = next;
  }
}

void CodeSources::NoteFailure(Snapshot& snapshot, const Request& request) const {
  const auto holder = snapshot.holders.find(request.failed);
  if (holder == snapshot.holders.end()) return;
  holder->second.failed_for.insert(request.node);
  if (holder->second.failed_for.size() < limits_.failures) return;
  for (auto& [node, fetch] : snapshot.fetches) {
    // The address may return as a new holder, which does not count these fetches.
    if (fetch.source == request.failed) fetch.source.clear();
  }
  snapshot.holders.erase(holder);
}

CodeSources::Source CodeSources::Choose(Snapshot& snapshot, const Request& request,
                                        int64_t waiting_since_ms, int64_t now_ms) const {
  bool may_wait = false;
  auto best = snapshot.holders.end();
  for (auto holder = snapshot.holders.begin(); holder != snapshot.holders.end(); ++holder) {
    const bool is_usable =
        holder->first != request.address && !holder->second.failed_for.contains(request.node);
    if (!is_usable) continue;
    may_wait = true;
    const bool is_free = holder->second.active < limits_.per_peer;
    const bool is_better =
        best == snapshot.holders.end() || holder->second.active < best->second.active;
    if (is_free && is_better) best = holder;
  }
  if (best != snapshot.holders.end()) {
    ++best->second.active;
    return {.kind = Source::Kind::kPeer, .peer = best->first};
  }
  const bool shares = !request.address.empty();
  if (shares && snapshot.direct < limits_.direct) {
    ++snapshot.direct;
    return {.kind = Source::Kind::kController};
  }
  may_wait = may_wait || std::ranges::any_of(snapshot.fetches, [](const auto& entry) {
               return entry.second.shares && !entry.second.waits;
             });
  if (may_wait && now_ms - waiting_since_ms < limits_.patience_ms) {
    return {.kind = Source::Kind::kWait, .wait_ms = kAskAgainMs};
  }
  return {.kind = Source::Kind::kController};
}

CodeSources::Source CodeSources::Find(const Request& request, int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  Snapshot& snapshot = SnapshotOf(request.snapshot, now_ms);
  EndOverdue(snapshot, now_ms);
  int64_t waiting_since_ms = now_ms;
  if (const auto fetch = snapshot.fetches.find(request.node); fetch != snapshot.fetches.end()) {
    if (fetch->second.waits) waiting_since_ms = fetch->second.since_ms;
    EndFetch(snapshot, fetch);
  }
  NoteFailure(snapshot, request);
  if (snapshot.fetches.size() >= limits_.nodes) return {};
  Source source = Choose(snapshot, request, waiting_since_ms, now_ms);
  const bool waits = source.kind == Source::Kind::kWait;
  snapshot.fetches[request.node] = {.source = source.peer,
                                    .shares = !request.address.empty(),
                                    .waits = waits,
                                    .since_ms = waits ? waiting_since_ms : now_ms};
  return source;
}

void CodeSources::Complete(const Request& request, int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  Snapshot& snapshot = SnapshotOf(request.snapshot, now_ms);
  if (const auto fetch = snapshot.fetches.find(request.node); fetch != snapshot.fetches.end()) {
    EndFetch(snapshot, fetch);
  }
  NoteFailure(snapshot, request);
  const bool is_full = snapshot.holders.size() >= limits_.nodes;
  if (!request.address.empty() && !is_full) snapshot.holders.try_emplace(request.address);
}

}  // namespace trainyard::controller
