// Finds the first line of a rank's output in which a log parser finds a step.
#ifndef TRAINYARD_WORKER_TAIL_FIRST_MATCH_H_
#define TRAINYARD_WORKER_TAIL_FIRST_MATCH_H_

#include <cstdint>
#include <utility>

#include "proto/parsers/log_parser.h"
#include "proto/support/guarded_path.h"

namespace trainyard::worker {

// Counts lines of the output until the first line in which the parser finds a step. Always reads
// from the first line, so a restarted worker gets the same result without state on disk.
class FirstMatch {
 public:
  explicit FirstMatch(GuardedPath path) : path_(std::move(path)) {}

  // Reads the next part of the output. Does nothing once a step was found. Bytes before `kept_from`
  // were dropped from the disk. `ended` is true if the rank no longer writes. If the file cannot be
  // read, the next call tries again.
  void ReadOn(const LogParser& parser, int64_t kept_from, bool ended);

  // Call when a step was found in a later part of the output.
  void Found() { found_ = true; }

  // The number of lines read without finding a step; 0 once a step was found.
  int64_t unmatched_lines() const { return found_ ? 0 : lines_; }

 private:
  const GuardedPath path_;
  bool found_ = false;
  int64_t offset_ = 0;
  int64_t lines_ = 0;
  LineContext context_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_FIRST_MATCH_H_
