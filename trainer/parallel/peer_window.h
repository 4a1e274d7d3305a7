// Device memory of each member of a group that the other members can write. Requires that all
// members are processes of one host and that their GPUs have peer access.
#ifndef TRAINYARD_TRAINER_PARALLEL_PEER_WINDOW_H_
#define TRAINYARD_TRAINER_PARALLEL_PEER_WINDOW_H_

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trainer/parallel/communicator.h"
#include "trainer/parallel/device/shared_flags.h"

namespace trainyard::trainer {

// Device memory that is not part of LibTorch's pool, because other processes map it.
class WindowMemory {
 public:
  WindowMemory(torch::Device device, int64_t bytes);
  ~WindowMemory();
  WindowMemory(const WindowMemory&) = delete;
  WindowMemory& operator=(const WindowMemory&) = delete;

  char* data() const { return data_; }

 private:
  const torch::Device device_;
  const int64_t bytes_;
  char* data_ = nullptr;
};

// The windows of all members, and counters that all members share.
class PeerWindow {
 public:
  struct Size {
    int64_t bytes = 0;
    int64_t flags = 0;
  };

  // Collective over `group`, whose operations must run. Returns null on all members if one of them
  // cannot map a window; `why_not` is then the reason. Throws TrainerError(kPeerLost).
  static std::unique_ptr<PeerWindow> Open(Communicator& group, torch::Device device,
                                          const Size& size, std::string& why_not);
  ~PeerWindow();
  PeerWindow(const PeerWindow&) = delete;
  PeerWindow& operator=(const PeerWindow&) = delete;

  // The own memory, which may outlive this object.
  const std::shared_ptr<WindowMemory>& memory() const { return memory_; }
  // The address of a member's window in this process.
  char* Of(int64_t member) const { return windows_[member]; }
  SharedFlags& flags() { return *flags_; }

 private:
  struct Offer;

  PeerWindow() = default;
  void Prepare(bool is_first, torch::Device device, const Size& size, Offer& offer);
  void Map(const std::vector<Offer>& offers, int64_t rank, torch::Device device, const Size& size);
  void MapMember(const Offer& offer);
  static void CheckCanMap(const Offer& own, const Offer& other);

  std::shared_ptr<WindowMemory> memory_;
  std::unique_ptr<SharedFlags> flags_;
  std::vector<char*> windows_;  // By member.
  std::vector<char*> opened_;   // Windows of other processes.
};

// Returns the message of an exception of `work`, or "" on success.
std::string ProblemOf(const std::function<void()>& work);

// Collective. Returns true if `here` is empty on all members. Otherwise, sets `here` to the first
// problem of any member. Throws TrainerError(kPeerLost).
bool AllSucceeded(Communicator& group, torch::Device device, std::string& here);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_PEER_WINDOW_H_
