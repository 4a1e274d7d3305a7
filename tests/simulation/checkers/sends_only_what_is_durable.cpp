// The controller sends workers only information that a crash cannot undo: facts and attempts that
// are in the event log, and bytes that are in the store. Bytes of a deleted job are acknowledged
// although they are not stored, so that the worker deletes them.
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class SendsOnlyWhatIsDurableChecker : public Checker {
 public:
  const char* Name() const override { return "sends only what is durable"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) Learn(step.log[i]);
    for (const SentMessage& sent : step.sent) {
      if (std::string wrong = CheckSent(step, sent); !wrong.empty()) {
        return absl::StrCat(sent.node_id, ": ", wrong, ": ", sent.message.ShortDebugString());
      }
    }
    return "";
  }

 private:
  void Learn(const v1::Event& event) {
    if (event.has_facts_received()) {
      facts_[event.facts_received().node_id()] = event.facts_received().fact_sequence();
    }
    if (event.has_job_deleted()) deleted_.insert(event.job_deleted().job_id());
    if (event.has_attempt_healing()) {
      const v1::AttemptHealing& healing = event.attempt_healing();
      generations_[{healing.job_id(), healing.attempt()}] = healing.generation();
    }
    if (event.has_job_placed()) {
      placed_.insert({event.job_placed().job_id(), event.job_placed().attempt()});
    }
  }

  static bool IsStored(const Step& step, const v1::StreamAcknowledged& acknowledged) {
    return acknowledged.offset() <=
           step.store.OffsetOf(controller::ToStreamKey(acknowledged.stream()));
  }

  std::string CheckSent(const Step& step, const SentMessage& sent) {
    const v1::ControllerMessage& message = sent.message;
    const uint64_t facts = facts_[sent.node_id];
    if (message.has_welcome()) {
      if (message.welcome().fact_sequence() > facts) return "Welcome with an uncommitted fact";
      for (const v1::StreamAcknowledged& stream : message.welcome().streams()) {
        if (!IsStored(step, stream)) return "Welcome with bytes that are not stored";
      }
    } else if (message.has_facts_acknowledged()) {
      if (message.facts_acknowledged().fact_sequence() > facts) return "a fact is not committed";
    } else if (message.has_stream_acknowledged()) {
      const bool deleted = deleted_.contains(message.stream_acknowledged().stream().job_id());
      if (!deleted && !IsStored(step, message.stream_acknowledged())) return "bytes are not stored";
    } else if (message.has_start_attempt()) {
      const v1::StartAttempt& start = message.start_attempt();
      if (!placed_.contains({start.job_id(), start.attempt()})) return "not placed";
    } else if (message.has_heal_attempt()) {
      const v1::HealAttempt& heal = message.heal_attempt();
      const int64_t generation = generations_[{heal.job_id(), heal.attempt()}];
      if (heal.generation() > generation) return "no such heal";
    }
    return "";
  }

  // The number of each node's newest committed fact.
  std::map<std::string, uint64_t> facts_;
  std::set<AttemptKey> placed_;
  // The newest generation of each healed attempt.
  std::map<AttemptKey, int64_t> generations_;
  std::set<int64_t> deleted_;
};

}  // namespace

std::unique_ptr<Checker> SendsOnlyWhatIsDurable() {
  return std::make_unique<SendsOnlyWhatIsDurableChecker>();
}

}  // namespace trainyard::simulation
