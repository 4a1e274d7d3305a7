// Reads the marks of processes (rank_mark.h) from their environments. Each environment is read only
// once.
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

// Data about a process that was read from its environment.
struct Mark {
  std::string mark;
  // The pid of the rank's first process; 0 if the process is a shim.
  pid_t leader = 0;
};

// Searches the environments of processes for marks. To read an environment, the kernel locks the
// memory of the process. A process that waits for a file server may hold that lock forever. Such a
// process delays only one search and counts as unmarked until its environment can be read.
// Thread-safe.
class MarkReader {
 public:
  // Errors: RESOURCE_EXHAUSTED means that the next search must try again. Any other error means
  // that the process has no mark that this user may read.
  using Read = std::function<absl::StatusOr<std::optional<Mark>>(pid_t)>;

  // `patience` is the time that a search waits for one environment.
  explicit MarkReader(Read read,
                      std::chrono::milliseconds patience = std::chrono::milliseconds(3000));

  // Returns the marks found in `processes`. Forgets the marks of all other processes.
  std::map<pid_t, Mark> MarksOf(const std::vector<ProcessStat>& processes);

 private:
  // A program that a process executes. A process gets a new environment each time it executes a
  // program.
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
  // Reads environments until a read hangs. Returns the programs after the hanging one.
  std::vector<Program> ReadSome(std::vector<Program> programs);

  const Read read_;
  const std::chrono::milliseconds patience_;
  // Allows one search at a time. Otherwise a search could treat a process as unmarked while another
  // search still waits for that process's environment.
  std::mutex searching_;
  std::map<Program, std::optional<Mark>> known_;
  // The programs whose environments could not be read in time, each with the batch that is still
  // reading it.
  std::map<Program, std::shared_ptr<Batch>> hung_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_MARK_READER_H_
