// Creates directories on shared storage, which may hang as long as a file server does.
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

// Each directory is created on its own thread, so that a hanging one delays no other. All
// functions, and the calls of `done`, are for the loop's thread.
class DirectoryMaker {
 public:
  // Creates a directory and its parents. Any thread; may still run when this object is destroyed.
  using Make = std::function<absl::Status(const std::string& path)>;
  using Done = std::function<void(const absl::Status& status)>;

  DirectoryMaker(boost::asio::io_context& loop, Make make);
  // Does not wait for hanging directories. `done` is not called afterwards.
  ~DirectoryMaker();

  // Limit on directories being created or hanging at the same time.
  static constexpr std::size_t kMostAtOnce = 64;

  // Calls `done` once the directory exists or cannot be created. Fails at once with
  // RESOURCE_EXHAUSTED if kMostAtOnce others are in progress. Requests for the same directory share
  // one thread.
  void MakeDirectory(const std::string& path, Done done);

 private:
  // Lives as long as the last thread. `maker` is null after the maker is destroyed.
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
