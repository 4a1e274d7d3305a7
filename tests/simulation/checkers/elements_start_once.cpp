// Each element of an array is submitted at most once and in order, at most `max_concurrent`
// elements are jobs at a time, an array is never placed, and it ends after its elements with their
// outcomes. A halving compares each element once at each of its steps.
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class ElementsStartOnceChecker : public Checker {
 public:
  const char* Name() const override { return "elements start once"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      if (std::string wrong = CheckEvent(step.log[i]); !wrong.empty()) return wrong;
    }
    return "";
  }

 private:
  struct Array {
    int64_t elements = 0;
    int64_t most_live = 0;
    int64_t created = 0;
    bool stopped = false;
    bool failed = false;
    std::set<int64_t> live;
  };

  std::string CheckEvent(const v1::Event& event) {
    if (event.has_job_submitted()) return CheckSubmitted(event.job_submitted());
    if (event.has_job_stop_requested()) {
      const auto array = arrays_.find(event.job_stop_requested().job_id());
      if (array != arrays_.end()) array->second.stopped = true;
    }
    if (event.has_job_placed() && arrays_.contains(event.job_placed().job_id())) {
      return absl::StrCat("array ", event.job_placed().job_id(), " was placed");
    }
    if (event.has_array_halved()) {
      const v1::ArrayHalved& halved = event.array_halved();
      const bool is_new = compared_.emplace(halved.element_id(), halved.rung().step()).second;
      if (is_new) return "";
      return absl::StrCat("job ", halved.element_id(), " was compared twice at step ",
                          halved.rung().step());
    }
    return event.has_job_ended() ? CheckEnded(event.job_ended()) : "";
  }

  std::string CheckSubmitted(const v1::JobSubmitted& submitted) {
    const v1::JobSpec& spec = submitted.spec();
    if (!spec.matrix().empty()) {
      Array& array = arrays_[submitted.job_id()];
      const std::string& seeds = spec.matrix().at("env.SEED");
      array.elements = std::stoll(seeds.substr(seeds.find("..") + 2));
      array.most_live = spec.has_max_concurrent() ? spec.max_concurrent() : array.elements;
    }
    if (submitted.array_id() == 0) return "";
    Array& array = arrays_.at(submitted.array_id());
    const std::string element =
        absl::StrCat("element ", submitted.array_index(), " of array ", submitted.array_id());
    if (submitted.array_index() != array.created) return element + " was submitted out of order";
    if (array.stopped) return element + " was submitted after the stop of its array";
    if (spec.env().at("SEED") != absl::StrCat(array.created + 1)) {
      return element + " has the settings of another element";
    }
    ++array.created;
    array.live.insert(submitted.job_id());
    array_of_[submitted.job_id()] = submitted.array_id();
    const bool too_many = static_cast<int64_t>(array.live.size()) > array.most_live;
    return too_many ? element + " exceeds max_concurrent" : "";
  }

  std::string CheckEnded(const v1::JobEnded& ended) {
    if (const auto element = array_of_.find(ended.job_id()); element != array_of_.end()) {
      Array& array = arrays_.at(element->second);
      array.live.erase(ended.job_id());
      array.failed = array.failed || ended.state() == v1::JOB_STATE_FAILED;
    }
    const auto found = arrays_.find(ended.job_id());
    if (found == arrays_.end()) return "";
    const Array& array = found->second;
    const std::string name = absl::StrCat("array ", ended.job_id());
    if (!array.live.empty()) return name + " ended before its elements";
    if (ended.state() == v1::JOB_STATE_STOPPED) return "";
    if (ended.verdict().cause() == v1::VERDICT_CAUSE_DEPENDENCY_FAILED) {
      return array.created == 0 ? "" : name + " started, but its conditions were not met";
    }
    if (array.created != array.elements) return name + " ended without all its elements";
    if (array.failed != (ended.state() == v1::JOB_STATE_FAILED)) {
      return name + " has another outcome than its elements";
    }
    return "";
  }

  std::map<int64_t, Array> arrays_;
  std::map<int64_t, int64_t> array_of_;
  std::set<std::pair<int64_t, int64_t>> compared_;  // Jobs and steps.
};

}  // namespace

std::unique_ptr<Checker> ElementsStartOnce() {
  return std::make_unique<ElementsStartOnceChecker>();
}

}  // namespace trainyard::simulation
