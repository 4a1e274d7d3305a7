// Reads the marks of processes (rank_mark.h) from their environments, each once.
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

// What an environment says about its process.
struct Mark {
  std::string mark;
  // The rank's first process; 0 for a shim.
  pid_t leader = 0;
};

// To read an environment the kernel locks the memory of its process, which one that waits for a
// file server may hold for ever. Such a process counts as one without a mark until it answers, and
// holds up each of the others at most once. Thread-safe.
class MarkReader {
 public:
  // RESOURCE_EXHAUSTED: to be read again. Other errors: it has no mark that this user may see.
  using Read = std::function<absl::StatusOr<std::optional<Mark>>(pid_t)>;

  // `patience`: how long a search waits for one environment.
  explicit MarkReader(Read read,
                      std::chrono::milliseconds patience = std::chrono::milliseconds(3000));

  // The marks of those of the processes that carry one. Forgets all processes but these.
  std::map<pid_t, Mark> MarksOf(const std::vector<ProcessStat>& processes);

 private:
  // A program that a process runs: it gets its environment when it is executed.
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
  // Reads until the first one that does not answer; returns what is left after it.
  std::vector<Program> ReadSome(std::vector<Program> programs);

  const Read read_;
  const std::chrono::milliseconds patience_;
  // One search at a time: none takes a process that another one waits for as one without a mark.
  std::mutex searching_;
  std::map<Program, std::optional<Mark>> known_;
  // Programs whose environments did not come, and who reads them.
  std::map<Program, std::shared_ptr<Batch>> hung_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_MARK_READER_H_
