// Reads the nonce (a random id) of the checkpoint root on the controller's machine. The nonce shows
// whether all nodes share the same directory.
#ifndef TRAINYARD_CONTROLLER_ROOT_READER_H_
#define TRAINYARD_CONTROLLER_ROOT_READER_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "controller/loop/loop.h"

namespace trainyard::controller {

// Returns the nonce in `root`, and creates one if there is none. Returns an empty string if the
// directory does not exist on this machine, which is allowed. Creates the directory if it is inside
// the data directory: workers on this machine then find the directory, and workers on other
// machines detect that they do not share the directory. May block on an unresponsive file server.
std::string ReadRootNonce(const std::string& root, const std::string& data_dir);

class RootReader {
 public:
  // `loop` must outlive this object.
  RootReader(std::string root, std::string data_dir, Loop& loop);
  // Stops.
  ~RootReader();

  // Starts a thread that reads the nonce twice a minute and sets Observations::roots.
  void Start();
  // Stops reading, without waiting for an unresponsive file server.
  void Stop();

 private:
  // The thread owns this state too, because the thread may outlive the RootReader.
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
