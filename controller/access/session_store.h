// Stores dashboard sessions between two runs of a controller.
#ifndef TRAINYARD_CONTROLLER_ACCESS_SESSION_STORE_H_
#define TRAINYARD_CONTROLLER_ACCESS_SESSION_STORE_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace trainyard::controller {

// Thread-safe. The text contains hashes of the sessions' secrets, not the secrets.
class SessionStore {
 public:
  virtual ~SessionStore() = default;
  // Returns the text of the last Write. NOT_FOUND: nothing was written yet.
  virtual absl::StatusOr<std::string> Read() = 0;
  // Replaces the text. It is durable when Write returns.
  virtual absl::Status Write(const std::string& text) = 0;
  // The place, for messages.
  virtual std::string Name() const = 0;
};

// A file with mode 0600.
class FileSessionStore final : public SessionStore {
 public:
  explicit FileSessionStore(std::string path) : path_(std::move(path)) {}

  absl::StatusOr<std::string> Read() override;
  absl::Status Write(const std::string& text) override;
  std::string Name() const override { return path_; }

 private:
  const std::string path_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_SESSION_STORE_H_
