// A PostgreSQL server for tests. All tests of a process share it; each test uses its own schema.
#ifndef TRAINYARD_TESTS_CONTROLLER_STORE_POSTGRES_POSTGRES_SERVER_H_
#define TRAINYARD_TESTS_CONTROLLER_STORE_POSTGRES_POSTGRES_SERVER_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace trainyard::controller {

// The server listens only on a Unix socket in its own temporary directory, and does not sync. It
// ends with this process, even if the process is killed. If the tests run as root, the server runs
// as the user postgres or nobody, because initdb refuses root.
class PostgresServer {
 public:
  // Returns the server of this process; starts it at the first call. NOT_FOUND: no server is
  // installed.
  static absl::StatusOr<PostgresServer*> Shared();

  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;
  ~PostgresServer();

  // The directory with the socket.
  const std::string& directory() const { return directory_; }

  // Connection strings. The user trainyard is the superuser.
  std::string Settings() const { return SettingsFor("trainyard"); }
  std::string SettingsFor(const std::string& user) const;
  // Creates the schema if it is missing. Connections use only this schema.
  absl::StatusOr<std::string> SettingsOf(const std::string& schema) const;

  // Restarts the server at once, as after a crash.
  absl::Status CrashAndRestart();
  // Stops the server with this signal: SIGINT ends all sessions, SIGQUIT is a crash.
  void Stop(int signal);
  // Starts the stopped server again, with the same data.
  absl::Status StartProcess();

 private:
  PostgresServer() = default;
  absl::Status Start(const std::string& binaries);
  absl::Status WaitUntilReady() const;

  std::string directory_;
  std::string binaries_;
  pid_t pid_ = -1;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_STORE_POSTGRES_POSTGRES_SERVER_H_
