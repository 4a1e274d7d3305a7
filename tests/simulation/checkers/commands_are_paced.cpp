// A stream receives commands only after its Welcome. A command is sent as soon as it becomes due,
// and repeated at most once per second while it is due.
#include <map>
#include <set>
#include <string>
#include <utility>

#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

constexpr int64_t kShortestPaceMs = 1000;

class CommandsArePacedChecker : public Checker {
 public:
  const char* Name() const override { return "commands are paced"; }

  std::string Check(const Step& step) override {
    for (const SentMessage& sent : step.sent) {
      const v1::ControllerMessage& message = sent.message;
      if (message.has_welcome()) welcomed_.insert(sent.stream);
      if (!IsCommand(message)) continue;
      if (!welcomed_.contains(sent.stream)) return "a command before Welcome";
      auto& [before_last, last] = sent_[{sent.stream, message.SerializeAsString()}];
      if (before_last != 0 && step.now - before_last < kShortestPaceMs) {
        return "sent three times in a second: " + message.ShortDebugString();
      }
      before_last = std::exchange(last, step.now);
    }
    return "";
  }

 private:
  static bool IsCommand(const v1::ControllerMessage& message) {
    return message.has_start_attempt() || message.has_stop_attempt() ||
           message.has_forget_attempt() || message.has_heal_attempt();
  }

  std::set<int64_t> welcomed_;
  // For each stream and command, the times of the last two sends.
  std::map<std::pair<int64_t, std::string>, std::pair<Timestamp, Timestamp>> sent_;
};

}  // namespace

std::unique_ptr<Checker> CommandsArePaced() { return std::make_unique<CommandsArePacedChecker>(); }

}  // namespace trainyard::simulation
