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
  // `node_id` goes with the contents of the data directory, PLACE with its path: the device and
  // inode of its parent directory, and its name. Of two workers whose paths are the same text, as
  // in two containers, the parents differ.
  RankMarks(const std::string& data_dir, const std::string& node_id);

  std::string MarkOf(const RankKey& key) const;
  // Ranks of this node with a process, or a shim, that lives.
  std::set<RankKey> Running() const;
  struct Strays {
    int killed = 0;
    bool all_ended = false;
  };
  // Kills the processes of ranks that a worker in this place started under another node id, and
  // waits for their end, 15 s at most. Nothing else can know them any more: the contents of the
  // data directory are lost.
  Strays KillStrays() const;
  // The place on this machine until it starts again, as v1::Hello has it; empty when it is unknown.
  // Processes of another PID namespace are not seen, so it is a place of its own.
  std::string PlaceOfBoot() const;

 private:
  const std::string node_id_;
  const std::string place_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_RANK_MARKS_H_
