#include "controller/core/observations/group_wait.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/core/observations/stall.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/support/text.h"
#include "proto/contract/rank_set.h"

namespace trainyard::controller {
namespace {

// Maps the rank of each group member to its flight record.
using GroupFlights = std::map<int, const v1::FlightRecord*>;

bool Waits(const v1::FlightRecord& flight) { return flight.entered_ms() > 0; }

std::map<std::string, GroupFlights> FlightsByGroup(const AttemptObservation& attempt) {
  std::map<std::string, GroupFlights> groups;
  for (const auto& [number, rank] : attempt.ranks) {
    for (const v1::FlightRecord& flight : rank.newest.flights()) {
      groups[flight.group()][number] = &flight;
    }
  }
  return groups;
}

std::set<int> WaitingRanks(const std::map<std::string, GroupFlights>& groups) {
  std::set<int> ranks;
  for (const auto& [_, flights] : groups) {
    for (const auto& [rank, flight] : flights) {
      if (Waits(*flight)) ranks.insert(rank);
    }
  }
  return ranks;
}

// Returns the record of a member that waits in the group's newest operation. Returns nullptr if no
// member waits.
const v1::FlightRecord* Front(const GroupFlights& flights) {
  const v1::FlightRecord* front = nullptr;
  for (const auto& [_, flight] : flights) {
    if (!Waits(*flight)) continue;
    if (front == nullptr || flight->sequence() > front->sequence()) front = flight;
  }
  return front;
}

std::optional<GroupWait> WaitOf(const GroupFlights& flights, int gang_size) {
  const v1::FlightRecord* front = Front(flights);
  if (front == nullptr) return std::nullopt;
  GroupWait wait{.group = front->group(),
                 .ranks = front->ranks(),
                 .sequence = front->sequence(),
                 .operation = front->operation()};
  for (const int64_t member : ParseRankSet(front->ranks()).value_or(std::vector<int64_t>())) {
    if (member >= gang_size) break;  // Members are ascending.
    const auto flight = flights.find(static_cast<int>(member));
    const bool is_there = flight != flights.end() && Waits(*flight->second) &&
                          flight->second->sequence() == front->sequence();
    (is_there ? wait.waiting : wait.missing).push_back(static_cast<int>(member));
  }
  if (wait.missing.empty()) return std::nullopt;
  return wait;
}

// The advice uses member numbers instead of places, because logs are stored by member number.
v1::HealthFinding FindingOf(const GroupWait& wait, const v1::Attempt& attempt, int64_t job_id) {
  v1::HealthFinding finding;
  finding.mutable_ranks()->Add(wait.culprits.begin(), wait.culprits.end());
  finding.set_message(GroupWaitText(wait));
  const int member = MemberAt(attempt, wait.culprits.front()).rank();
  finding.set_advice(absl::StrCat("`trainyard logs ", job_id, " --rank ", member,
                                  " --tail 20` shows its last output"));
  return finding;
}

// The finding for a gang whose ranks do not report what they wait for.
v1::HealthFinding FindingWithoutRank(const AttemptObservation& attempt, int64_t job_id) {
  v1::HealthFinding finding;
  finding.set_message(absl::StrCat("no rank has made progress since step ", LastStep(attempt)));
  finding.set_advice(absl::StrCat("`trainyard why ", job_id,
                                  "` names the limit after which the watchdog acts; `trainyard "
                                  "logs ",
                                  job_id, " --tail 20` shows the last output"));
  return finding;
}

}  // namespace

std::string GroupWaitText(const GroupWait& wait) {
  return absl::StrCat(RanksText(wait.culprits), wait.culprits.size() == 1 ? " has" : " have",
                      " not reached ", wait.operation, " ", wait.sequence, " of group ", wait.group,
                      " (ranks ", wait.ranks, "); ", RanksText(wait.waiting),
                      wait.waiting.size() == 1 ? " is" : " are", " waiting for ",
                      wait.culprits.size() == 1 ? "it" : "them");
}

std::optional<GroupWait> FindGroupWait(const AttemptObservation& attempt, int gang_size) {
  const auto groups = FlightsByGroup(attempt);
  const std::set<int> waiting = WaitingRanks(groups);
  std::optional<GroupWait> found;
  for (const auto& [_, flights] : groups) {
    std::optional<GroupWait> wait = WaitOf(flights, gang_size);
    if (!wait.has_value()) continue;
    std::ranges::copy_if(wait->missing, std::back_inserter(wait->culprits),
                         [&](int rank) { return !waiting.contains(rank); });
    if (!wait->culprits.empty()) return wait;
    wait->culprits = wait->missing;
    if (!found.has_value()) found = std::move(wait);
  }
  return found;
}

std::optional<v1::HealthFinding> WhyStalled(const Observations& observations, const JobEntry& entry,
                                            Timestamp now) {
  const v1::Attempt* attempt = LiveAttempt(entry);
  if (entry.job.state() != v1::JOB_STATE_RUNNING || attempt == nullptr) return std::nullopt;
  const auto observed = observations.attempts.find({entry.job.id(), attempt->number()});
  if (observed == observations.attempts.end()) return std::nullopt;
  const Timestamp since = StalledSince(observed->second, now);
  if (CanStall(observed->second) && since == 0) return std::nullopt;
  const std::optional<GroupWait> wait = FindGroupWait(observed->second, GangSize(*attempt));
  const bool is_known = since != 0 && AllReport(observed->second, now);
  if (!wait.has_value() && !is_known) return std::nullopt;
  v1::HealthFinding finding = wait.has_value()
                                  ? FindingOf(*wait, *attempt, entry.job.id())
                                  : FindingWithoutRank(observed->second, entry.job.id());
  finding.set_word(v1::HEALTH_WORD_STALLED);
  finding.set_since_ms(since);
  return finding;
}

}  // namespace trainyard::controller
