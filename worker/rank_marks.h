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
  // `node_id` belongs to the contents of the data directory, PLACE to its path: the device and
  // inode of its parent directory, and its name. Two workers with the same path, as in two
  // containers, have different parent directories.
  RankMarks(const std::string& data_dir, const std::string& node_id);

  std::string MarkOf(const RankKey& key) const;
  // Ranks of this node with a living process or shim.
  std::set<RankKey> Running() const;
  struct Strays {
    int killed = 0;
    bool all_ended = false;
  };
  // Kills the processes of ranks that a worker in this place started under another node id, and
  // waits up to 15 s for their end. No record of these ranks is left, because the contents of the
  // data directory are lost.
  Strays KillStrays() const;
  // The place on this machine until its next boot, as in v1::Hello; empty if unknown. Includes the
  // PID namespace, because processes of other namespaces are not visible.
  std::string PlaceOfBoot() const;

 private:
  const std::string node_id_;
  const std::string place_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_RANK_MARKS_H_
