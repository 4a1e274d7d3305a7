// Reads the options of a batch script about its time limit: --time, --signal and --requeue.
#ifndef TRAINYARD_CLI_CONVERT_BATCH_TIME_H_
#define TRAINYARD_CLI_CONVERT_BATCH_TIME_H_

#include <cstdint>
#include <optional>
#include <string>

#include "cli/convert/job_draft.h"

namespace trainyard::cli {

// Returns the seconds of a SLURM time: "90" (minutes), "90:30", "12:00:00", "2-12", "2-12:30" or
// "2-12:30:00". Returns nullopt for any other text and for times of more than a year.
std::optional<int64_t> SlurmSeconds(const std::string& text);

// Collects the options in any order. Not thread-safe.
class BatchTime {
 public:
  explicit BatchTime(JobDraft& draft) : draft_(draft) {}

  // Returns false if the option is not about the time limit. `text` is the option for notes.
  bool Take(const std::string& option, const std::string& value, const std::string& text, int line);

  // Sets the job's settings. Call once, after the last option.
  void Finish();

 private:
  void TakeTime(const std::string& value, const std::string& text, int line);
  void TakeSignal(const std::string& value, const std::string& text, int line);

  JobDraft& draft_;
  int64_t limit_s_ = 0;    // 0: no limit.
  int64_t warning_s_ = 0;  // 0: not given.
  std::string signal_;     // "USR1" or "USR2"; empty: none.
  std::string signal_text_;
  int signal_line_ = 0;
  bool requeues_ = false;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_BATCH_TIME_H_
