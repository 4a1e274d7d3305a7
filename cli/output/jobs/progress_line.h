// The progress display of -f: one line on a terminal, otherwise a series of lines.
#ifndef TRAINYARD_CLI_OUTPUT_JOBS_PROGRESS_LINE_H_
#define TRAINYARD_CLI_OUTPUT_JOBS_PROGRESS_LINE_H_

#include <string>

#include "cli/output/terminal/console.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::cli {

// Returns text such as "running  step 120/300 (40%)  loss 3.2012  5.2k tok/s  eta 1m20s".
std::string ProgressText(const v1::Job& job, Timestamp now);

// Returns one line about an ended job. For a failed job, a second line has the verdict's summary.
std::string EndText(const v1::Job& job);

// Writes to console.err. On a terminal, overwrites one line. Otherwise, writes a new line at each
// change of state and every few seconds.
class ProgressLine {
 public:
  explicit ProgressLine(Console& console) : console_(console) {}

  void Show(const v1::Job& job);
  // Prints a line that is not overwritten.
  void Note(const std::string& text);
  // Erases the progress line. The cursor stays on that line.
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

#endif  // TRAINYARD_CLI_OUTPUT_JOBS_PROGRESS_LINE_H_
