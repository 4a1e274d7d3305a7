#include "tests/simulation/checkers/linearizability.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace trainyard::simulation {
namespace {

// The state of the sequential model: the jobs, and whether each of them was stopped.
using JobList = std::map<std::string, bool>;

bool IsPending(const JobOperation& operation) { return operation.returned == JobOperation::kNever; }

// Returns false if the operation cannot give its answer in this state.
bool TakesEffect(const JobOperation& operation, JobList& jobs) {
  switch (operation.action) {
    case JobAction::kSubmit:
      return jobs.emplace(operation.job, false).second;
    case JobAction::kStop: {
      const auto found = jobs.find(operation.job);
      if (found == jobs.end() || (operation.was_stopped && !found->second)) return false;
      found->second = true;
      return true;
    }
    case JobAction::kList:
      return operation.jobs == jobs;
  }
  return false;
}

std::string JobsText(const JobList& jobs) {
  std::string text;
  for (const auto& [name, stopped] : jobs) absl::StrAppend(&text, " ", name, stopped ? "!" : "");
  return text;
}

std::string TextOf(const JobOperation& operation) {
  const std::string span =
      absl::StrCat("client ", operation.client, " [", operation.invoked, ", ",
                   IsPending(operation) ? "..." : absl::StrCat(operation.returned), "] ");
  switch (operation.action) {
    case JobAction::kSubmit:
      return absl::StrCat(span, "submit ", operation.job);
    case JobAction::kStop:
      return absl::StrCat(span, "stop ", operation.job, operation.was_stopped ? " (again)" : "");
    case JobAction::kList:
      return absl::StrCat(span, "list", JobsText(operation.jobs));
  }
  return span;
}

class LinearizabilitySearch {
 public:
  explicit LinearizabilitySearch(const std::vector<JobOperation>& history) {
    std::map<int, std::vector<JobOperation>> by_client;
    for (const JobOperation& operation : history) by_client[operation.client].push_back(operation);
    for (auto& [client, operations] : by_client) clients_.push_back(std::move(operations));
  }

  std::string Run() {
    if (Explore(Positions(clients_.size(), 0), {})) return "";
    return failure_;
  }

 private:
  // The number of operations of each client that have taken effect.
  using Positions = std::vector<std::size_t>;

  bool IsDone(const Positions& positions) const {
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      if (positions[i] < clients_[i].size() && !IsPending(clients_[i][positions[i]])) return false;
    }
    return true;
  }

  // The first answer to an operation that has not taken effect. Operations that are called later
  // cannot take effect before that operation.
  int64_t FirstReturn(const Positions& positions) const {
    int64_t first = JobOperation::kNever;
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      if (positions[i] == clients_[i].size()) continue;
      first = std::min(first, clients_[i][positions[i]].returned);
    }
    return first;
  }

  bool Explore(const Positions& positions, const JobList& jobs) {
    if (IsDone(positions)) return true;
    if (!visited_.emplace(positions, jobs).second) return false;
    Note(positions, jobs);
    const int64_t first_return = FirstReturn(positions);
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      if (positions[i] == clients_[i].size()) continue;
      const JobOperation& operation = clients_[i][positions[i]];
      JobList after = jobs;
      if (operation.invoked > first_return || !TakesEffect(operation, after)) continue;
      Positions next = positions;
      ++next[i];
      if (Explore(next, after)) return true;
    }
    return false;
  }

  // Keeps the description of the longest sequence of operations that fits.
  void Note(const Positions& positions, const JobList& jobs) {
    const std::size_t length = std::accumulate(positions.begin(), positions.end(), std::size_t{0});
    if (length < longest_) return;
    longest_ = length + 1;
    failure_ = absl::StrCat("after ", length, " operations the jobs are:", JobsText(jobs),
                            "; none of these fits next:");
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      if (positions[i] == clients_[i].size()) continue;
      absl::StrAppend(&failure_, "\n  ", TextOf(clients_[i][positions[i]]));
    }
  }

  std::vector<std::vector<JobOperation>> clients_;
  std::set<std::pair<Positions, JobList>> visited_;
  std::size_t longest_ = 0;
  std::string failure_;
};

}  // namespace

std::string CheckLinearizable(const std::vector<JobOperation>& history) {
  return LinearizabilitySearch(history).Run();
}

}  // namespace trainyard::simulation
