// Reads the options of a batch script about CPUs and memory: --cpus-per-task, --cpus-per-gpu,
// --mem,
// --mem-per-gpu and --mem-per-cpu.
#ifndef TRAINYARD_CLI_CONVERT_BATCH_HOST_H_
#define TRAINYARD_CLI_CONVERT_BATCH_HOST_H_

#include <cstdint>
#include <optional>
#include <string>

#include "cli/convert/job_draft.h"

namespace trainyard::cli {

// Returns the bytes of a SLURM amount of memory: "64G", "64GB", "1T", "500K", or "4096" in MiB. The
// units are powers of 1024. Returns nullopt for any other text and for more than 1 PiB.
std::optional<int64_t> SlurmBytes(const std::string& text);

// Collects the options in any order. Not thread-safe.
class BatchHost {
 public:
  // Returns false if the option is about neither CPUs nor memory. `text` is the option for notes.
  bool Take(const std::string& option, const std::string& value, const std::string& text, int line);

  // The tasks and GPUs per node of the script; 0: not given.
  void SetCounts(int64_t tasks, int64_t gpus);

  // Sets the job's requests. Call once, when the draft has its number of slots. Adds a note for
  // each option that the ranks cannot share equally.
  void Finish(JobDraft& draft) const;

 private:
  // An option with its amount.
  struct Amount {
    std::string option;
    std::string value;
    std::string text;
    int line = 0;
  };

  // Return the amount on each node; nullopt if none was requested or the draft has a note about it.
  std::optional<int64_t> CpusOnNode(JobDraft& draft) const;
  std::optional<int64_t> BytesOnNode(JobDraft& draft) const;

  // `option` is empty if the script does not have the option.
  Amount cpus_;
  Amount memory_;
  int64_t tasks_ = 0;
  int64_t gpus_ = 0;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_BATCH_HOST_H_
