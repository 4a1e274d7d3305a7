// The progress of -f: one line on a terminal, a series of lines elsewhere.
#ifndef TRAINYARD_CLI_OUTPUT_PROGRESS_LINE_H_
#define TRAINYARD_CLI_OUTPUT_PROGRESS_LINE_H_

#include <string>

#include "cli/output/console.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::cli {

// "running  step 120/300 (40%)  loss 3.2012  5.2k tok/s  eta 1m20s".
std::string ProgressText(const v1::Job& job, Timestamp now);

// One line for an ended job; for a failed one a second line with the verdict's summary.
std::string EndText(const v1::Job& job);

// Writes to console.err: on a terminal one line that is overwritten, elsewhere a line at each
// change of state and every few seconds.
class ProgressLine {
 public:
  explicit ProgressLine(Console& console) : console_(console) {}

  void Show(const v1::Job& job);
  // Prints a permanent line.
  void Note(const std::string& text);
  // Leaves the terminal's cursor on an empty line.
  void Clear();

 private:
  void ShowChange(const v1::Job& job);

  Console& console_;
  bool shown_ = false;
  v1::JobState state_ = v1::JOB_STATE_UNSPECIFIED;
  int64_t attempt_number_ = 0;
  Timestamp last_line_ms_ = 0;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_PROGRESS_LINE_H_
