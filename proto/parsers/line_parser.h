// Converts lines of a program's output to metrics. The base class of all parsers.
#ifndef TRAINYARD_PROTO_PARSERS_LINE_PARSER_H_
#define TRAINYARD_PROTO_PARSERS_LINE_PARSER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "trainyard/v1/telemetry.pb.h"

namespace trainyard {

// Facts from earlier lines. The meaning of the next line may depend on them.
struct LineContext {
  int64_t step = -1;        // The newest step that a line named. -1: none.
  int64_t bar_total = 0;    // The total of the progress bar that named `step`. 0: none.
  int64_t total_steps = 0;  // The steps of the training. 0: unknown.
  // True if the line itself moves the cursor up, like a progress bar that is shown below another
  // one.
  bool moves_up = false;
};

// Converts one line of output to the numbers of one step. `step` is the number that the program
// prints. Numbers with a well-known meaning get the well-known name: loss, grad_norm, lr,
// step_seconds, tokens_per_second, mfu (as a ratio), val_loss, memory_bytes. Every other number
// keeps the program's own name, in lower case with underscores. Thread-safe once created.
class LogParser {
 public:
  virtual ~LogParser() = default;

  // Returns nullopt for a line that is not about a step. Most lines are not. Understands terminal
  // escape sequences, and prefixes of launchers and loggers (proto/text/line_prefix.h). `context`
  // contains the earlier lines; the call adds this line. A record may contain only the step.
  std::optional<v1::MetricsRecord> Parse(std::string_view line, LineContext& context) const;
  // Parses a line whose meaning does not depend on earlier lines.
  std::optional<v1::MetricsRecord> Parse(std::string_view line) const;

  // True if the meaning of a line depends on earlier lines.
  virtual bool NeedsContext() const { return false; }

  // Call if a launcher prints the lines of several ranks, of which `first_rank` is the first. The
  // parser then ignores lines with the label of another rank than `rank`.
  void ReadOnlyRank(int rank, int first_rank) { only_rank_ = OnlyRank{rank, first_rank}; }
  // Returns the first rank of the launcher that prints the lines; nullopt without a launcher.
  std::optional<int> first_rank_of_launcher() const {
    return only_rank_.has_value() ? std::optional<int>(only_rank_->first_rank) : std::nullopt;
  }

  // Sets factors for metrics by name. Values of a record are multiplied by their factors.
  void SetScale(std::map<std::string, double> scale) { scale_ = std::move(scale); }

 protected:
  // Returns false for a line that certainly contains no record. Most lines of most programs are
  // recognized by this test, which is much faster than the patterns. Escape sequences may be in the
  // line, but not within words.
  virtual bool MayHoldRecord(std::string_view /*line*/) const { return true; }
  // Parses a line without escape sequences. The text is valid UTF-8.
  virtual std::optional<v1::MetricsRecord> ParseText(const std::string& text,
                                                     LineContext& context) const = 0;

 private:
  struct OnlyRank {
    int rank = 0;
    int first_rank = 0;
  };

  bool IsOfOtherRank(std::string_view line) const;
  std::optional<v1::MetricsRecord> ParseLine(std::string_view line, LineContext& context) const;

  std::optional<OnlyRank> only_rank_;
  std::map<std::string, double> scale_;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_PARSERS_LINE_PARSER_H_
