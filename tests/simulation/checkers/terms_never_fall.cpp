// The terms of the events in the log never fall, and no message has a lower term than the newest
// event.
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/contract/leader_term.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class TermsNeverFallChecker : public Checker {
 public:
  const char* Name() const override { return "terms never fall"; }

  std::string Check(const Step& step) override {
    const auto newest_before = step.first_new == 0 ? 0 : step.log[step.first_new - 1].leader_term();
    int64_t newest = TermOfField(newest_before);
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      const int64_t term = TermOfField(step.log[i].leader_term());
      if (term < newest) {
        return absl::StrCat("event ", i + 1, " of term ", term, " after term ", newest);
      }
      newest = term;
    }
    for (const SentMessage& sent : step.sent) {
      if (TermOfField(sent.message.leader_term()) < newest) {
        return "a message of an old term: " + sent.message.ShortDebugString();
      }
    }
    return "";
  }
};

}  // namespace

std::unique_ptr<Checker> TermsNeverFall() { return std::make_unique<TermsNeverFallChecker>(); }

}  // namespace trainyard::simulation
