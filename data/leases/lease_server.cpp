#include "data/leases/lease_server.h"

#include "proto/support/asio.h"
// Asio's parts need the workaround above.
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "data/leases/lease_key.h"
#include "data/leases/message.h"
#include "data/stages/record.h"
#include "proto/files/directory_nonce.h"
#include "proto/proof/digest.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using std::chrono::milliseconds;

// A node has at most some hundred cores, so that this is enough for thousands of processes.
constexpr size_t kConnectionsMax = 4096;
// Connections that have not proved their identity. A run of thousands of processes also fits,
// because a process that is refused connects again.
constexpr size_t kUnprovenMax = 256;
constexpr auto kAcceptPause = milliseconds(200);

}  // namespace

struct LeaseServer::State {
  class Connection;

  State(const LeaseServerSettings& settings_in, std::unique_ptr<LeaseKey> key_in)
      : settings(settings_in), key(std::move(key_in)), acceptor(context), pause(context) {}

  absl::Status Listen();
  void Accept();
  // Returns false if there are too many connections.
  bool Admit(int holder, int rank);
  Reply Answer(int holder, const Request& request);
  Reply AnswerNext(const Request& request);
  Reply AnswerOnPass(int holder, const Request& request);
  void Remove(int holder);

  const LeaseServerSettings settings;
  const std::unique_ptr<LeaseKey> key;
  std::mutex mutex;  // guards the members up to `result`
  std::condition_variable changed;
  std::map<int, int> holders;  // ranks by holder
  std::set<int> ranks;         // that have connected
  uint64_t passes = 0;         // opened so far
  std::string name;
  std::string plan;
  BlockQueue* queue = nullptr;  // of the open pass; null if there is none
  std::optional<absl::Status> result;

  // After the members that the destructors of connections use.
  asio::io_context context{1};
  tcp::acceptor acceptor;
  asio::steady_timer pause;
  std::thread thread;
  // The following members are only used on the thread.
  int next_holder = BlockQueue::kLocalHolder + 1;
  size_t unproven = 0;
};

// One connection. Used on the thread of the server.
class LeaseServer::State::Connection
    : public std::enable_shared_from_this<LeaseServer::State::Connection> {
 public:
  Connection(State* state, tcp::socket socket, int holder)
      : state_(*state), socket_(std::move(socket)), deadline_(state->context), holder_(holder) {
    ++state_.unproven;
  }
  ~Connection() {
    if (!admitted_) --state_.unproven;
    state_.Remove(holder_);
  }

  void Start() {
    CloseAfter(state_.settings.handshake);
    ReadLength();
  }

 private:
  void ReadLength() {
    if (admitted_) CloseAfter(state_.settings.request_timeout);
    buffer_.resize(kLengthBytes);
    asio::async_read(socket_, asio::buffer(buffer_),
                     [self = shared_from_this()](ErrorCode error, size_t) {
                       if (!error) self->ReadMessage();
                     });
  }

  void ReadMessage() {
    const absl::StatusOr<size_t> length =
        DecodeLength(buffer_, admitted_ ? kMessageBytesMax : kSmallMessageBytesMax);
    if (!length.ok()) return Close();
    buffer_.resize(*length);
    asio::async_read(socket_, asio::buffer(buffer_),
                     [self = shared_from_this()](ErrorCode error, size_t) {
                       if (!error) self->AnswerMessage();
                     });
  }

  void AnswerMessage() {
    // The peer is not late while a commit waits for the disk.
    if (admitted_) deadline_.cancel();
    const absl::StatusOr<Request> request = DecodeRequest(buffer_);
    if (!request.ok()) return Close();
    const Reply reply = admitted_ ? state_.Answer(holder_, *request) : Greet(*request);
    if (admitted_) CloseAfter(state_.settings.request_timeout);
    const bool is_last = !admitted_ && reply.type == ReplyType::kRefused;
    buffer_ = EncodeReply(reply);
    asio::async_write(socket_, asio::buffer(buffer_),
                      [self = shared_from_this(), is_last](ErrorCode error, size_t) {
                        if (!error && !is_last) self->ReadLength();
                      });
  }

  // Answers a process that has not proved its identity.
  Reply Greet(const Request& request) {
    if (request.type == RequestType::kHello) return Challenge(request);
    const bool is_proof = request.type == RequestType::kProof && !greeting_.server_nonce.empty();
    if (!is_proof) return Refusal("the first request must be a hello");
    // Each nonce is used once.
    const Greeting greeting = std::exchange(greeting_, {});
    if (!SameSecret(request.proof, ClientProof(state_.key->secret(), greeting))) {
      return Refusal("the key of this process is not that of rank 0");
    }
    if (!state_.Admit(holder_, greeting.rank)) return Refusal("rank 0 has too many connections");
    admitted_ = true;
    --state_.unproven;
    return {};
  }

  Reply Challenge(const Request& request) {
    if (request.group != state_.settings.group) {
      return Refusal(
          "rank 0 runs another job or another pipeline file; give every process the same file and "
          "the same MASTER_PORT");
    }
    greeting_ = {request.group, request.rank, request.nonce, NewNonce()};
    if (greeting_.server_nonce.empty()) return Refusal("rank 0 has no random bytes");
    return {.type = ReplyType::kChallenge,
            .name = state_.key->name(),
            .nonce = greeting_.server_nonce,
            .proof = ServerProof(state_.key->secret(), greeting_)};
  }

  static Reply Refusal(const std::string& text) {
    return {.type = ReplyType::kRefused, .text = text};
  }

  void CloseAfter(milliseconds limit) {
    deadline_.expires_after(limit);
    deadline_.async_wait([weak = weak_from_this()](ErrorCode error) {
      if (const auto self = weak.lock(); self && !error) self->Close();
    });
  }

  // The pending operation fails and releases the connection.
  void Close() {
    ErrorCode ignored;
    socket_.close(ignored);
  }

  State& state_;
  tcp::socket socket_;
  asio::steady_timer deadline_;
  const int holder_;
  Greeting greeting_;  // without a server nonce: no challenge is open
  bool admitted_ = false;
  std::string buffer_;
};

absl::Status LeaseServer::State::Listen() {
  ErrorCode error;
  const tcp::endpoint any(tcp::v6(), settings.port);
  acceptor.open(any.protocol(), error);
  if (!error) acceptor.set_option(asio::ip::v6_only(false), error);
  const bool has_v6 = !error;
  const tcp::endpoint endpoint = has_v6 ? any : tcp::endpoint(tcp::v4(), settings.port);
  if (!has_v6) acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) return absl::OkStatus();
  return absl::AbortedError("cannot listen on port " + std::to_string(settings.port) + ": " +
                            error.message() + "; choose another MASTER_PORT");
}

void LeaseServer::State::Accept() {
  acceptor.async_accept([this](ErrorCode error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (error) {
      // The process probably has no free descriptors.
      pause.expires_after(kAcceptPause);
      pause.async_wait([this](ErrorCode) { Accept(); });
      return;
    }
    ErrorCode ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    if (unproven < kUnprovenMax) {
      std::make_shared<Connection>(this, std::move(socket), next_holder++)->Start();
    }
    Accept();
  });
}

bool LeaseServer::State::Admit(int holder, int rank) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (holders.size() >= kConnectionsMax) return false;
  holders[holder] = rank;
  ranks.insert(rank);
  return true;
}

void LeaseServer::State::Remove(int holder) {
  const std::lock_guard<std::mutex> lock(mutex);
  holders.erase(holder);
  if (queue != nullptr) queue->Release(holder);
  changed.notify_all();
}

Reply LeaseServer::State::Answer(int holder, const Request& request) {
  const std::lock_guard<std::mutex> lock(mutex);
  switch (request.type) {
    case RequestType::kNext:
      return AnswerNext(request);
    case RequestType::kTake:
    case RequestType::kRecord:
    case RequestType::kFail:
      return AnswerOnPass(holder, request);
    default:
      return {};
  }
}

Reply LeaseServer::State::AnswerNext(const Request& request) {
  if (result) {
    if (result->ok()) return {.type = ReplyType::kEnded};
    return {.type = ReplyType::kFailed, .text = ErrorText(result->message())};
  }
  if (queue == nullptr || request.pass >= passes) return {.type = ReplyType::kWait};
  return {.type = ReplyType::kPass, .pass = passes, .name = name, .plan = plan};
}

Reply LeaseServer::State::AnswerOnPass(int holder, const Request& request) {
  if (queue == nullptr || request.pass != passes) return {.type = ReplyType::kEnded};
  if (request.type == RequestType::kFail) {
    queue->Fail(request.lease,
                absl::Status(static_cast<absl::StatusCode>(request.code), ErrorText(request.text)));
    return {};
  }
  if (request.type == RequestType::kRecord) {
    const std::string_view line = request.text;
    std::optional<BlockRecord> record = ParseRecord(line.substr(0, line.find('\n')), plan);
    if (!record) return {.type = ReplyType::kRefused, .text = "the record is damaged"};
    const absl::Status status = queue->Commit(request.lease, *std::move(record));
    if (status.ok()) return {};
    return {.type = ReplyType::kRefused, .text = ErrorText(status.message())};
  }
  const BlockQueue::Offer offer = queue->Take(holder);
  switch (offer.state) {
    case BlockQueue::State::kLeased:
      return {.type = ReplyType::kBlock, .lease = offer.lease};
    case BlockQueue::State::kWait:
      return {.type = ReplyType::kWait};
    case BlockQueue::State::kEnded:
      return {.type = ReplyType::kEnded};
  }
  return {};
}

LeaseServer::LeaseServer(std::shared_ptr<State> state) : state_(std::move(state)) {}

absl::StatusOr<std::unique_ptr<LeaseServer>> LeaseServer::Start(
    const LeaseServerSettings& settings) {
  TRAINYARD_ASSIGN_OR_RETURN(std::unique_ptr<LeaseKey> key,
                             LeaseKey::Create(settings.key_directory));
  auto state = std::make_shared<State>(settings, std::move(key));
  if (const absl::Status status = state->Listen(); !status.ok()) return status;
  state->Accept();
  state->thread = std::thread([state = state.get()] { state->context.run(); });
  return std::unique_ptr<LeaseServer>(new LeaseServer(std::move(state)));
}

LeaseServer::~LeaseServer() {
  state_->context.stop();
  state_->thread.join();
}

uint16_t LeaseServer::port() const { return state_->acceptor.local_endpoint().port(); }

void LeaseServer::Open(const std::string& name, const std::string& plan, BlockQueue* queue) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  ++state_->passes;
  state_->name = name;
  state_->plan = plan;
  state_->queue = queue;
}

void LeaseServer::Close() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->queue = nullptr;
}

void LeaseServer::Finish(const absl::Status& result) {
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->queue = nullptr;
  state_->result = result;
  const size_t expected = result.ok() ? state_->settings.peers : 0;
  state_->changed.wait_for(lock, state_->settings.farewell, [&] {
    return state_->holders.empty() && state_->ranks.size() >= expected;
  });
}

int LeaseServer::RankOf(int holder) const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  const auto found = state_->holders.find(holder);
  return found == state_->holders.end() ? 0 : found->second;
}

int LeaseServer::peers() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return static_cast<int>(state_->holders.size());
}

}  // namespace trainyard::data
