// Reads the marks of processes (rank_mark.h) from their environments, each environment once.
#ifndef TRAINYARD_WORKER_PROCESS_MARK_READER_H_
#define TRAINYARD_WORKER_PROCESS_MARK_READER_H_

#include <sys/types.h>

#include <chrono>
#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/process/process_table.h"

namespace trainyard::worker {

// Facts about a process, read from its environment.
struct Mark {
  std::string mark;
  // The rank's first process; 0 for a shim.
  pid_t leader = 0;
};

// To read an environment, the kernel locks the memory of its process. A process waiting for a file
// server may hold that lock forever. Such a process counts as unmarked until its environment can be
// read, and delays only one search. Thread-safe.
class MarkReader {
 public:
  // RESOURCE_EXHAUSTED: try again in the next search. Other errors: the process has no mark that
  // this user may read.
  using Read = std::function<absl::StatusOr<std::optional<Mark>>(pid_t)>;

  // `patience`: how long a search waits for one environment.
  explicit MarkReader(Read read,
                      std::chrono::milliseconds patience = std::chrono::milliseconds(3000));

  // Returns the marks found in `processes`. Forgets all other processes.
  std::map<pid_t, Mark> MarksOf(const std::vector<ProcessStat>& processes);

 private:
  // A program run by a process. The environment is set when the program is executed.
  struct Program {
    pid_t pid = 0;
    uint64_t start_time = 0;
    uint64_t environment_begin = 0;
    uint64_t environment_end = 0;
    friend auto operator<=>(const Program&, const Program&) = default;
  };
  struct Batch;

  static Program ProgramOf(const ProcessStat& process);
  void Learn(const Program& program, const absl::StatusOr<std::optional<Mark>>& mark);
  void ReadAll(std::vector<Program> programs);
  // Reads up to the first environment that hangs; returns the programs after it.
  std::vector<Program> ReadSome(std::vector<Program> programs);

  const Read read_;
  const std::chrono::milliseconds patience_;
  // One search at a time: a search must not treat a process as unmarked while another search waits
  // for it.
  std::mutex searching_;
  std::map<Program, std::optional<Mark>> known_;
  // Programs whose environments could not be read in time, with the batch still reading them.
  std::map<Program, std::shared_ptr<Batch>> hung_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_MARK_READER_H_
