// Makes directories on shared storage, which may hang as long as a file server does.
#ifndef TRAINYARD_WORKER_DIRECTORY_MAKER_H_
#define TRAINYARD_WORKER_DIRECTORY_MAKER_H_

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace trainyard::worker {

// Each directory has a thread of its own while it is made, so that one that hangs delays no other.
// All functions are for the loop's thread, and so are the calls of `done`.
class DirectoryMaker {
 public:
  // Makes a directory with its parents. Any thread; may still run when this is destroyed.
  using Make = std::function<absl::Status(const std::string& path)>;
  using Done = std::function<void(const absl::Status& status)>;

  DirectoryMaker(boost::asio::io_context& loop, Make make);
  // Does not wait for directories that hang; makes no call afterwards.
  ~DirectoryMaker();

  // Directories that may be made, or hang, at the same time.
  static constexpr std::size_t kMostAtOnce = 64;

  // Calls `done` once the directory exists or cannot be made; RESOURCE_EXHAUSTED, at once, when
  // kMostAtOnce others hang. Requests for a directory that is being made share one thread.
  void MakeDirectory(const std::string& path, Done done);

 private:
  // Lives as long as the last thread. `maker` is null once it is gone.
  struct Link {
    std::mutex mutex;
    DirectoryMaker* maker = nullptr;
  };

  void Made(const std::string& path, const absl::Status& status);

  boost::asio::io_context& loop_;
  const Make make_;
  std::shared_ptr<Link> link_;
  std::map<std::string, std::vector<Done>> waiting_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_DIRECTORY_MAKER_H_
