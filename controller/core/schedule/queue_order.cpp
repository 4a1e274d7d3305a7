#include "controller/core/schedule/queue_order.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/state/slots/queues.h"

namespace trainyard::controller {
namespace {

__extension__ using Wide = __int128;

// Slot time per share, as a fraction, so that the comparison is exact.
struct Ratio {
  int64_t slot_ms = 0;
  int shares = 1;
  friend bool operator==(const Ratio& a, const Ratio& b) { return (a <=> b) == 0; }
  friend std::strong_ordering operator<=>(const Ratio& a, const Ratio& b) {
    return Wide{a.slot_ms} * b.shares <=> Wide{b.slot_ms} * a.shares;
  }
};

struct QueueStanding {
  int tier = 0;
  bool borrows = false;
  Ratio usage;
};

// Computes the standing of each queue and user once.
class Standings {
 public:
  Standings(const ClusterState& state, v1::DeviceKind kind, Timestamp now)
      : state_(state), kind_(kind), now_(now) {}

  const QueueStanding& OfQueue(const std::string& queue) {
    const auto [found, is_new] = queues_.try_emplace(queue);
    if (is_new) {
      const v1::Queue settings = QueueNamed(state_, queue);
      const int nominal = QuotaOf(settings, kind_).nominal();
      found->second = {settings.tier(),
                       nominal > 0 && HeldSlotsOf(state_, {kind_, queue, ""}) >= nominal,
                       {UsageOf(queue, ""), SharesOf(settings)}};
    }
    return found->second;
  }

  int64_t OfUser(const std::string& queue, const std::string& user) {
    const auto [found, is_new] = users_.try_emplace({queue, user});
    if (is_new) found->second = UsageOf(queue, user);
    return found->second;
  }

 private:
  int64_t UsageOf(const std::string& queue, const std::string& user) const {
    const auto found = state_.usages.find({kind_, queue, user});
    return found == state_.usages.end() ? 0 : UsageAt(found->second, now_);
  }
  const ClusterState& state_;
  const v1::DeviceKind kind_;
  const Timestamp now_;
  std::map<std::string, QueueStanding> queues_;
  std::map<std::pair<std::string, std::string>, int64_t> users_;
};

using Standing = std::tuple<int, int, int, bool, Ratio, int64_t>;

Standing StandingOf(const ClusterState& state, const JobClass& job_class, Standings& standings) {
  const bool first = job_class.only_job != 0 && PrecedesQueue(state, job_class.only_job);
  const QueueStanding& queue = standings.OfQueue(job_class.queue);
  if (first) return {0, 0, 0, false, {}, 0};
  return {1,
          -queue.tier,
          -job_class.priority,
          queue.borrows,
          queue.usage,
          standings.OfUser(job_class.queue, job_class.user)};
}

// Returns true if the classes are ordered equally because of their queue, user and priority.
bool HasEqualStanding(const JobClass& a, const JobClass& b) {
  return a.only_job == 0 && b.only_job == 0 && a.priority == b.priority && a.user == b.user &&
         a.queue == b.queue;
}

// Classes of equal standing that follow one another in the order of JobClass.
struct StandingGroup {
  Standing standing;
  std::size_t begin = 0;
  std::size_t end = 0;
};

// The number by which a job is ordered within its rank. An element of an array has the number of
// the array, and elements of one array are ordered by their own numbers.
std::pair<int64_t, int64_t> NumberOf(const JobClass& job_class, int64_t job_id) {
  return {job_class.array_id != 0 ? job_class.array_id : job_id, job_id};
}

}  // namespace

std::vector<ClassRank> RankClasses(const ClusterState& state, v1::DeviceKind kind, Timestamp now) {
  Standings standings(state, kind, now);
  std::vector<ClassRank> unranked;
  std::vector<StandingGroup> groups;
  for (auto found = state.pending_classes.lower_bound({.kind = kind});
       found != state.pending_classes.end() && found->first.kind == kind; ++found) {
    const JobClass& job_class = found->first;
    const std::size_t position = unranked.size();
    if (position == 0 || !HasEqualStanding(*unranked.back().job_class, job_class)) {
      groups.push_back({StandingOf(state, job_class, standings), position, position});
    }
    groups.back().end = position + 1;
    unranked.push_back({&job_class, &found->second, 0, position});
  }
  std::ranges::stable_sort(groups, {}, &StandingGroup::standing);
  std::vector<ClassRank> classes;
  classes.reserve(unranked.size());
  int rank = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i > 0 && groups[i].standing != groups[i - 1].standing) ++rank;
    for (std::size_t position = groups[i].begin; position < groups[i].end; ++position) {
      unranked[position].rank = rank;
      classes.push_back(unranked[position]);
    }
  }
  return classes;
}

bool OrderedJobs::Later::operator()(const Next& a, const Next& b) const {
  return std::pair(a.place->rank, NumberOf(*a.place->job_class, a.job_id)) >
         std::pair(b.place->rank, NumberOf(*b.place->job_class, b.job_id));
}

OrderedJobs::OrderedJobs(const std::vector<ClassRank>& classes) {
  heap_.reserve(classes.size());
  for (const ClassRank& place : classes) heap_.push_back({*place.jobs->begin(), &place});
  std::ranges::make_heap(heap_, Later());
}

void OrderedJobs::Advance() {
  const Next done = heap_.front();
  CloseClass();
  const auto following = done.place->jobs->upper_bound(done.job_id);
  if (following == done.place->jobs->end()) return;
  heap_.push_back({*following, done.place});
  std::ranges::push_heap(heap_, Later());
}

void OrderedJobs::CloseClass() {
  std::ranges::pop_heap(heap_, Later());
  heap_.pop_back();
}

std::vector<OrderedJobs::Next> OrderedJobs::TakeShortestFirst() {
  // The hold, 0 being the longest, the rank, and the number.
  using Key = std::tuple<uint64_t, int, std::pair<int64_t, int64_t>>;
  std::vector<std::pair<Key, Next>> sorted;
  sorted.reserve(heap_.size());
  for (const Next& next : heap_) {
    const JobClass& job_class = *next.place->job_class;
    const uint64_t hold = static_cast<uint64_t>(job_class.longest_hold_ms) - 1;
    sorted.push_back({{hold, next.place->rank, NumberOf(job_class, next.job_id)}, next});
  }
  std::ranges::sort(sorted, {}, [](const auto& item) -> const Key& { return item.first; });
  heap_.clear();
  std::vector<Next> taken;
  taken.reserve(sorted.size());
  for (const auto& [key, next] : sorted) taken.push_back(next);
  return taken;
}

int64_t CountBefore(const ClusterState& state, const v1::Job& job, Timestamp now,
                    const std::function<bool(int64_t job_id)>& counts) {
  const JobClass own = ClassOf(job);
  Standings standings(state, own.kind, now);
  const Standing standing = StandingOf(state, own, standings);
  int64_t count = 0;
  for (auto found = state.pending_classes.lower_bound({.kind = own.kind});
       found != state.pending_classes.end() && found->first.kind == own.kind; ++found) {
    const Standing other = StandingOf(state, found->first, standings);
    if (other > standing) continue;
    const int64_t alone = found->first.only_job;
    if (alone != 0 && counts != nullptr && !counts(alone)) continue;
    const auto& jobs = found->second;
    const auto end = other < standing ? jobs.end() : std::ranges::find_if(jobs, [&](int64_t id) {
      return NumberOf(found->first, id) >= NumberOf(own, job.id());
    });
    count += std::distance(jobs.begin(), end);
  }
  return count;
}

std::vector<int64_t> JobsInOrder(const ClusterState& state, v1::DeviceKind kind, Timestamp now) {
  const std::vector<ClassRank> classes = RankClasses(state, kind, now);
  std::vector<int64_t> jobs;
  for (OrderedJobs ordered(classes); !ordered.empty(); ordered.Advance()) {
    jobs.push_back(ordered.front().job_id);
  }
  return jobs;
}

}  // namespace trainyard::controller
