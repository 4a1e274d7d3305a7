// The marks of this node's ranks (worker/process/rank_mark.h): "NODE:PLACE:JOB:ATTEMPT:RANK".
#ifndef TRAINYARD_WORKER_RANK_MARKS_H_
#define TRAINYARD_WORKER_RANK_MARKS_H_

#include <set>
#include <string>

#include "worker/core/attempts.h"

namespace trainyard::worker {

// Thread-safe.
class RankMarks {
 public:
  // NODE is `node_id`, which is part of the contents of the data directory. PLACE contains the
  // device and inode of the data directory's parent, and the name of the data directory. Two
  // workers can have the same path in two containers, but the parent directories then differ.
  RankMarks(const std::string& data_dir, const std::string& node_id);

  std::string MarkOf(const RankKey& key) const;
  // Returns the ranks of this node that have a living process or shim.
  std::set<RankKey> Running() const;
  struct Strays {
    int killed = 0;
    bool all_ended = false;
  };
  // Kills the processes of ranks that a worker in this place started under another node id. Waits
  // up to 15 s until these processes have ended. No other trace of these ranks is left, because the
  // contents of the data directory were lost.
  Strays KillStrays() const;
  // Returns a text that identifies the place until the machine's next boot, as in v1::Hello; empty
  // if unknown. The text includes the PID namespace, because processes in other namespaces are not
  // visible.
  std::string PlaceOfBoot() const;

 private:
  const std::string node_id_;
  const std::string place_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_RANK_MARKS_H_
