// A test controller on real gRPC. Stores what workers send, and breaks streams on demand.
#ifndef TRAINYARD_TESTS_WORKER_RPC_FAKE_CONTROLLER_H_
#define TRAINYARD_TESTS_WORKER_RPC_FAKE_CONTROLLER_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "proto/contract/leader_term.h"
#include "tests/fakes/fake_token.h"
#include "trainyard/v1/access_service.grpc.pb.h"
#include "trainyard/v1/worker_control.grpc.pb.h"

namespace trainyard::worker {

// Thread-safe.
class FakeController : public v1::WorkerControl::Service {
 public:
  using Stream = grpc::ServerReaderWriter<v1::ControllerMessage, v1::WorkerMessage>;
  using StreamKey = std::tuple<int64_t, int64_t, int, int>;

  FakeController() = default;
  ~FakeController() override { Shutdown(); }

  // Sets the token whose possession the controller proves. The default is FakeToken.
  void UseToken(const std::string& token) { access_.token = token; }
  // Makes the controller omit the proof of its token from Welcome, as older releases do.
  void ProveNothingInWelcome() { proves_welcome_ = false; }
  // Makes the controller a standby. `leader` is the address that it names.
  void StandBy(const std::string& leader) { access_.leader = leader; }
  // Makes the controller lead this term.
  void Lead(int64_t term) {
    access_.leader.reset();
    term_ = term;
  }
  // Starts to listen. Port 0 means any free port.
  void Serve(int port = 0);
  void Shutdown();
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  int port() const { return port_; }

  // Sets a function that is called for every later Hello. If it returns a status other than OK, the
  // controller rejects the stream with that status.
  void RefuseWith(std::function<grpc::Status()> answer);
  // Makes the controller answer every later Hello with this message instead of a Welcome.
  void AnswerHelloWith(v1::ControllerMessage message);
  // Breaks each stream after a number of messages. `script` has one number per stream; later
  // streams are not broken. The last messages before a break are not stored, as if the controller
  // had crashed before the commit.
  void BreakAfter(std::vector<int> script);
  // Sends this message to the worker right after Welcome.
  void SendAfterWelcome(v1::ControllerMessage message);

  int hellos() const;
  v1::Hello last_hello() const;
  int heartbeats() const;
  std::vector<v1::Fact> facts() const;
  std::string stored(const v1::StreamId& stream) const;
  // Returns violations of the protocol by workers: gaps, repetitions after a Welcome, and messages
  // out of order.
  std::vector<std::string> complaints() const;

 private:
  grpc::Status Attach(grpc::ServerContext* context, Stream* stream) override;
  bool Greet(Stream& stream, const v1::Hello& hello);
  void Serve(Stream& stream, int messages);
  void Store(const v1::WorkerMessage& message, Stream& stream);
  void StoreFact(const v1::Fact& fact, Stream& stream);
  void StoreBytes(const v1::StreamId& id, int64_t begin, const std::string& bytes, Stream& stream);

  struct Prover final : v1::AccessService::Service {
    grpc::Status Prove(grpc::ServerContext*, const v1::ProveRequest* request,
                       v1::ProveResponse* response) override {
      response->set_proof(ControllerProof(token, request->nonce(), request->address()));
      response->set_challenge("challenge");
      response->set_standby(leader.has_value());
      response->set_leader(leader.value_or(""));
      return grpc::Status::OK;
    }
    std::string token = FakeToken();
    std::optional<std::string> leader;  // Set for a standby.
  };

  Prover access_;
  bool proves_welcome_ = true;
  int64_t term_ = kFirstTerm;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::function<grpc::Status()> refuse_;
  std::vector<v1::ControllerMessage> hello_answer_;
  std::vector<v1::ControllerMessage> after_welcome_;
  std::vector<int> script_;
  int hellos_ = 0;
  int heartbeats_ = 0;
  v1::Hello last_hello_;
  std::vector<v1::Fact> facts_;
  std::map<StreamKey, std::string> streams_;
  std::vector<std::string> complaints_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_TESTS_WORKER_RPC_FAKE_CONTROLLER_H_
