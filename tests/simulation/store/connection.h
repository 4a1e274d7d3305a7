// A controller's connection to the simulated database. Statements and answers take time, and may be
// late or lost.
#ifndef TRAINYARD_TESTS_SIMULATION_STORE_CONNECTION_H_
#define TRAINYARD_TESTS_SIMULATION_STORE_CONNECTION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "tests/simulation/store/world.h"

namespace trainyard::simulation {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // Runs on the server. Returns nullopt while it waits for a lock.
  using Statement = std::function<std::optional<absl::Status>(int64_t session)>;
  // Runs in the controller.
  using Done = std::function<void(const absl::Status& status)>;
  // Time limits in ms.
  struct Limits {
    int64_t lock_ms = 5'000;     // A wait for a lock.
    int64_t answer_ms = 12'000;  // The wait for an answer.
  };

  // Returns null if the server cannot be reached.
  static std::shared_ptr<Connection> Open(int member, World& world);

  Connection(int member, int64_t session, World& world)
      : member_(member), session_(session), world_(world) {}

  // Sends one statement at a time. UNAVAILABLE: the result is not known.
  void Call(const Limits& limits, Statement statement, Done done);
  // The controller's process has ended or does not need the connection any longer.
  void Close();
  // The server has ended the session. The controller learns this later.
  void SessionEnded();

  // False once the connection is lost, as far as the controller has noticed in a statement.
  bool is_open() const { return is_open_; }
  // True if the operating system knows that the connection has ended.
  bool has_ended() const { return closed_by_server_ || !is_open_; }
  int64_t session() const { return session_; }

 private:
  void Arrive(int64_t number, int64_t lock_until_ms, const Limits& limits, Statement statement);
  void Reply(int64_t number, const absl::Status& status);
  void Finish(int64_t number, const absl::Status& status, bool breaks);
  void LearnEnd();
  bool IsCut() const { return world_.IsCut(member_, Side::kDatabase); }
  // Runs `work` once no partition prevents it.
  void WhenReachable(int64_t ms, std::function<void()> work);
  void EndTransactionIfIdle(int64_t statements);

  const int member_;
  const int64_t session_;
  World& world_;
  bool is_open_ = true;
  bool closed_by_server_ = false;
  int64_t number_ = 0;      // Of the last statement.
  int64_t statements_ = 0;  // The number of statements that the server has received.
  Done done_;               // Null if no statement is waiting.
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_STORE_CONNECTION_H_
