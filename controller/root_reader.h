// The nonce of the checkpoint root as the controller's own machine reads it: it names the directory
// that the nodes are meant to share.
#ifndef TRAINYARD_CONTROLLER_ROOT_READER_H_
#define TRAINYARD_CONTROLLER_ROOT_READER_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "controller/loop.h"

namespace trainyard::controller {

// Nonce in the directory, which gets one when it has none; empty when there is no such directory on
// this machine, which need not have it. A root in the data directory is made: the workers of this
// machine find it, others see that they do not share it. May wait for a file server that does not
// answer.
std::string ReadRootNonce(const std::string& root, const std::string& data_dir);

class RootReader {
 public:
  // `loop` outlives this.
  RootReader(std::string root, std::string data_dir, Loop& loop);
  // Stops.
  ~RootReader();

  // Reads twice a minute, on a thread of its own, for Observations::roots.
  void Start();
  // Does not wait for a file server that does not answer.
  void Stop();

 private:
  // Lives as long as the thread.
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    bool stopped = false;
  };

  const std::string root_;
  const std::string data_dir_;
  Loop& loop_;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ROOT_READER_H_
