#include "data/leases/lease_client.h"

#include "proto/support/asio.h"
// Asio's parts need the workaround above.
#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "data/leases/lease_key.h"
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

// Times between two attempts to connect: the first one, and the longest one. Each pause is twice as
// long as the one before.
constexpr milliseconds kFirstRetryPause(5);
constexpr milliseconds kLongestRetryPause(200);
// Time between two requests for a block or a pass while there is none.
constexpr milliseconds kPollPause(100);
// Time for one attempt to connect.
constexpr milliseconds kAttempt(5000);

absl::Status Lost(const std::string& cause) {
  return absl::UnavailableError("lost the connection to rank 0: " + cause +
                                "; see the output of rank 0, and start all processes again");
}

absl::Status Refused(const Reply& reply) {
  return absl::FailedPreconditionError("rank 0 refused this process: " + ErrorText(reply.text));
}

absl::Status Cancelled() {
  return absl::CancelledError("interrupted; repeat the command to continue");
}

}  // namespace

struct LeaseClient::State {
  State(const LeaseClientSettings& settings_in, const std::atomic<bool>& cancelled_in)
      : settings(settings_in), cancelled(cancelled_in), socket(context) {}

  // Runs the operation that `start` has begun until it ends. Closes the socket at the deadline.
  using Done = std::function<void(ErrorCode)>;
  ErrorCode RunWithin(milliseconds limit, const std::function<void(const Done&)>& start) {
    ErrorCode result = asio::error::timed_out;
    bool ended = false;
    start([&](ErrorCode error) {
      result = error;
      ended = true;
    });
    context.restart();
    context.run_for(limit);
    if (ended) return result;
    ErrorCode ignored;
    socket.close(ignored);
    context.restart();
    context.run();
    return asio::error::timed_out;
  }

  ErrorCode Connect() {
    ErrorCode error;
    tcp::resolver resolver(context);
    const auto endpoints = resolver.resolve(settings.host, std::to_string(settings.port), error);
    if (error) return error;
    error = RunWithin(kAttempt, [&](const Done& done) {
      asio::async_connect(socket, endpoints,
                          [done](ErrorCode result, const tcp::endpoint&) { done(result); });
    });
    ErrorCode ignored;
    if (!error) socket.set_option(tcp::no_delay(true), ignored);
    return error;
  }

  ErrorCode Exchange(const std::string& request, std::string* reply) {
    ErrorCode error = RunWithin(settings.request_timeout, [&](const Done& done) {
      asio::async_write(socket, asio::buffer(request),
                        [done](ErrorCode result, size_t) { done(result); });
    });
    if (!error) error = Read(kLengthBytes, reply);
    if (error) return error;
    const absl::StatusOr<size_t> length = DecodeLength(*reply, kSmallMessageBytesMax);
    return length.ok() ? Read(*length, reply) : ErrorCode(asio::error::invalid_argument);
  }

  ErrorCode Read(size_t bytes, std::string* text) {
    text->resize(bytes);
    return RunWithin(settings.request_timeout, [&](const Done& done) {
      asio::async_read(socket, asio::buffer(*text),
                       [done](ErrorCode result, size_t) { done(result); });
    });
  }

  const LeaseClientSettings settings;
  const std::atomic<bool>& cancelled;
  std::mutex mutex;  // guards the members below, except the thread
  std::condition_variable closing;
  asio::io_context context{1};
  tcp::socket socket;
  absl::Status lost;
  bool closed = false;
  std::thread pinger;
};

class LeaseClient::Blocks : public BlockSource {
 public:
  Blocks(LeaseClient* client, Pass pass) : client_(*client), pass_(std::move(pass)) {}

  absl::StatusOr<std::optional<BlockLease>> Take() override {
    while (!client_.state_->cancelled) {
      TRAINYARD_ASSIGN_OR_RETURN(const Reply reply, client_.Call(Of(RequestType::kTake)));
      if (reply.type == ReplyType::kBlock) return reply.lease;
      if (reply.type != ReplyType::kWait) return std::nullopt;
      std::this_thread::sleep_for(kPollPause);
    }
    return Cancelled();
  }

  // A block is finished even if an earlier one has failed, because only rank 0 knows.
  bool Continues(const BlockLease&) override {
    const std::lock_guard<std::mutex> lock(client_.state_->mutex);
    return client_.state_->lost.ok();
  }

  absl::Status Commit(const BlockLease& lease, BlockRecord record) override {
    Request request = Of(RequestType::kRecord);
    request.lease = lease;
    request.text = RecordLine(record, pass_.plan);
    TRAINYARD_ASSIGN_OR_RETURN(const Reply reply, client_.Call(request));
    if (reply.type != ReplyType::kRefused) return absl::OkStatus();
    return absl::AbortedError("rank 0 refused a record: " + reply.text);
  }

  void Fail(const BlockLease& lease, const absl::Status& status) override {
    // The others continue without a stopped process. The end of its connection returns the lease.
    if (absl::IsCancelled(status)) return;
    Request request = Of(RequestType::kFail);
    request.lease = lease;
    request.code = static_cast<int>(status.code());
    request.text =
        ErrorText(absl::StrCat("rank ", client_.state_->settings.rank, ": ", status.message()));
    // A lost connection also returns the lease, and the next Take reports it.
    (void)client_.Call(request);
  }

 private:
  Request Of(RequestType type) const {
    Request request;
    request.type = type;
    request.pass = pass_.number;
    return request;
  }

  LeaseClient& client_;
  const Pass pass_;
};

LeaseClient::LeaseClient(const LeaseClientSettings& settings, const std::atomic<bool>& cancelled)
    : state_(std::make_unique<State>(settings, cancelled)) {}

absl::StatusOr<std::unique_ptr<LeaseClient>> LeaseClient::Connect(
    const LeaseClientSettings& settings, const std::atomic<bool>& cancelled) {
  const auto end = std::chrono::steady_clock::now() + settings.connect;
  for (milliseconds pause = kFirstRetryPause;; pause = std::min(2 * pause, kLongestRetryPause)) {
    if (cancelled) return Cancelled();
    std::unique_ptr<LeaseClient> client(new LeaseClient(settings, cancelled));
    const ErrorCode error = client->state_->Connect();
    const absl::Status status =
        error ? absl::UnavailableError(error.message()) : client->ProveIdentities();
    if (status.ok()) {
      client->state_->pinger = std::thread([client = client.get()] { client->PingUntilClosed(); });
      return client;
    }
    if (!absl::IsUnavailable(status)) return status;
    if (std::chrono::steady_clock::now() >= end) {
      return absl::UnavailableError(absl::StrCat(
          "cannot connect to rank 0 at ", settings.host, ":", settings.port, ": ", status.message(),
          "; check MASTER_ADDR and MASTER_PORT, and the output of rank 0"));
    }
    std::this_thread::sleep_for(pause);
  }
}

absl::Status LeaseClient::ProveIdentities() {
  const LeaseClientSettings& settings = state_->settings;
  Request hello;
  hello.type = RequestType::kHello;
  hello.group = settings.group;
  hello.rank = settings.rank;
  hello.nonce = NewNonce();
  if (hello.nonce.empty()) return absl::InternalError("the system provides no random bytes");
  TRAINYARD_ASSIGN_OR_RETURN(const Reply challenge, Call(hello));
  if (challenge.type != ReplyType::kChallenge) return Refused(challenge);
  TRAINYARD_ASSIGN_OR_RETURN(const std::string secret,
                             ReadLeaseKey(settings.key_directory, challenge.name));
  const Greeting greeting = {settings.group, settings.rank, hello.nonce, challenge.nonce};
  if (!SameSecret(challenge.proof, ServerProof(secret, greeting))) {
    return absl::FailedPreconditionError(
        absl::StrCat("the process at ", settings.host, ":", settings.port,
                     " cannot prove that it is rank 0; choose another MASTER_PORT"));
  }
  Request proof;
  proof.type = RequestType::kProof;
  proof.proof = ClientProof(secret, greeting);
  TRAINYARD_ASSIGN_OR_RETURN(const Reply reply, Call(proof));
  return reply.type == ReplyType::kOk ? absl::OkStatus() : Refused(reply);
}

LeaseClient::~LeaseClient() {
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->closed = true;
  }
  state_->closing.notify_all();
  if (state_->pinger.joinable()) state_->pinger.join();
}

absl::StatusOr<Reply> LeaseClient::Call(const Request& request) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  TRAINYARD_RETURN_IF_ERROR(state_->lost);
  const std::string message = EncodeRequest(request);
  if (message.size() - kLengthBytes > kMessageBytesMax) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the record of block ", request.lease.block, " has ", message.size(),
                     " bytes, and rank 0 accepts ", kMessageBytesMax, "; decrease `block_bytes`"));
  }
  std::string text;
  const ErrorCode error = state_->Exchange(message, &text);
  if (error) return state_->lost = Lost(error.message());
  const absl::StatusOr<Reply> reply = DecodeReply(text);
  if (!reply.ok()) return state_->lost = Lost(std::string(reply.status().message()));
  return *reply;
}

void LeaseClient::PingUntilClosed() {
  for (;;) {
    {
      std::unique_lock<std::mutex> lock(state_->mutex);
      state_->closing.wait_for(lock, state_->settings.ping, [this] { return state_->closed; });
      if (state_->closed || !state_->lost.ok()) return;
    }
    (void)Call({});
  }
}

absl::StatusOr<std::optional<LeaseClient::Pass>> LeaseClient::Next(uint64_t last) {
  Request request;
  request.type = RequestType::kNext;
  request.pass = last;
  while (!state_->cancelled) {
    TRAINYARD_ASSIGN_OR_RETURN(const Reply reply, Call(request));
    if (reply.type == ReplyType::kEnded) return std::nullopt;
    if (reply.type == ReplyType::kPass) return Pass{reply.pass, reply.name, reply.plan};
    if (reply.type == ReplyType::kFailed) {
      return absl::UnavailableError("rank 0 ended with an error: " + reply.text);
    }
    std::this_thread::sleep_for(kPollPause);
  }
  return Cancelled();
}

std::unique_ptr<BlockSource> LeaseClient::BlocksOf(const Pass& pass) {
  return std::make_unique<Blocks>(this, pass);
}

absl::Status LeaseClient::FailRun(const Pass& pass, const absl::Status& failure) {
  Blocks blocks(this, pass);
  TRAINYARD_ASSIGN_OR_RETURN(const std::optional<BlockLease> lease, blocks.Take());
  if (!lease) return absl::OkStatus();
  blocks.Fail(*lease, failure);
  return failure;
}

}  // namespace trainyard::data
