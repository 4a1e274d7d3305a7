// Packs of code that this node has received, kept in memory for nodes that fetch the same snapshot.
#ifndef TRAINYARD_WORKER_RECENT_PACKS_H_
#define TRAINYARD_WORKER_RECENT_PACKS_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace trainyard::worker {

// All nodes of a gang fetch a snapshot at the same time and request the same blobs. A received pack
// therefore serves the next nodes as it is. To read and compress the files again would take most of
// the time of a fetch. Thread-safe.
class RecentPacks {
 public:
  static constexpr std::size_t kMaxBytes = 32 << 20;

  // Keeps a pack whose blobs have been checked. Drops the oldest packs beyond kMaxBytes.
  void Keep(const std::string& snapshot, std::string pack);

  // Returns a pack of the snapshot that begins with the first of these blobs and contains no other
  // blobs; nullptr if there is none.
  std::shared_ptr<const std::string> Find(const std::string& snapshot,
                                          const std::vector<std::string>& digests) const;

 private:
  struct Kept {
    std::string snapshot;
    std::string first;  // Digest of the first blob.
    std::shared_ptr<const std::string> pack;
  };

  mutable std::mutex mutex_;
  std::deque<Kept> packs_;  // Oldest first.
  std::size_t bytes_ = 0;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_RECENT_PACKS_H_
