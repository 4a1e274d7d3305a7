#include "proto/access/socket_question.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "proto/contract/unique_fd.h"

namespace trainyard {
namespace {

// As the kernel's lookup wants one end: 4 or 16 bytes of address, all in network byte order.
struct End {
  sa_family_t family = AF_UNSPEC;
  std::array<uint32_t, 4> address{};
  uint16_t port = 0;
};

std::optional<End> EndOf(const HostAndPort& where) {
  End end{.port = htons(static_cast<uint16_t>(where.port))};
  in6_addr six{};
  if (inet_pton(AF_INET, where.host.c_str(), end.address.data()) == 1) {
    end.family = AF_INET;
    return end;
  }
  if (inet_pton(AF_INET6, where.host.c_str(), &six) != 1) return std::nullopt;
  if (IN6_IS_ADDR_V4MAPPED(&six)) {
    // The kernel keeps such sockets beside those of IPv4.
    end.family = AF_INET;
    end.address[0] = six.s6_addr32[3];
  } else {
    end.family = AF_INET6;
    std::memcpy(end.address.data(), &six, sizeof six);
  }
  return end;
}

struct Question {
  nlmsghdr header{};
  inet_diag_req_v2 body{};
};

struct Answer {
  nlmsghdr header{};
  // An error's is shorter: its first member is the negative errno.
  inet_diag_msg body{};
};

UniqueFd Open() { return UniqueFd(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)); }

Question NewQuestion(sa_family_t family, uint16_t flags) {
  Question question;
  question.header = {.nlmsg_len = sizeof question,
                     .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                     .nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | flags)};
  question.body.sdiag_family = static_cast<uint8_t>(family);
  question.body.sdiag_protocol = IPPROTO_TCP;
  question.body.id.idiag_cookie[0] = question.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return question;
}

// The kernel's first message in answer.
std::optional<Answer> Ask(const UniqueFd& netlink, const Question& question) {
  const sockaddr_nl kernel{.nl_family = AF_NETLINK};
  if (sendto(netlink.get(), &question, sizeof question, 0,
             reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel) < 0) {
    return std::nullopt;
  }
  Answer answer;
  // The answer, of one message, is there when the question has been sent: the kernel gives it in
  // that call.
  const ssize_t size = recv(netlink.get(), &answer, sizeof answer, MSG_DONTWAIT);
  if (size < static_cast<ssize_t>(sizeof answer.header)) return std::nullopt;
  return answer;
}

// The user of the socket that a segment from `far` to `near` reaches, if it is in this state.
// Connections from this machine come in at its loopback device, also for a listener that is bound
// to it.
std::optional<uid_t> AskForSocket(const End& near, const End& far, int state) {
  static const uint32_t loopback = if_nametoindex("lo");
  // One a thread: with a new one each question would take twice as long.
  thread_local const UniqueFd netlink = Open();
  Question question = NewQuestion(near.family, 0);
  inet_diag_sockid& id = question.body.id;
  id.idiag_sport = near.port;
  id.idiag_dport = far.port;
  std::memcpy(id.idiag_src, near.address.data(), sizeof id.idiag_src);
  std::memcpy(id.idiag_dst, far.address.data(), sizeof id.idiag_dst);
  id.idiag_if = loopback;
  const std::optional<Answer> answer = Ask(netlink, question);
  if (!answer.has_value() || answer->header.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
      answer->header.nlmsg_len < sizeof *answer || answer->body.idiag_state != state) {
    return std::nullopt;
  }
  return answer->body.idiag_uid;
}

// A list of the sockets in no state at all: empty, or an error where there is no such service.
bool ServesQuestions() {
  const std::optional<Answer> answer = Ask(Open(), NewQuestion(AF_INET, NLM_F_DUMP));
  return answer.has_value() && answer->header.nlmsg_type == NLMSG_DONE;
}

}  // namespace

bool KernelAnswersAboutSockets() {
  static const bool answers = ServesQuestions();
  return answers;
}

std::optional<uid_t> AskForListener(const HostAndPort& where) {
  const std::optional<End> near = EndOf(where);
  if (!near.has_value()) return std::nullopt;
  // No connection comes from port 0, so that the lookup ends at the listener.
  return AskForSocket(*near, End{.family = near->family}, TCP_LISTEN);
}

std::optional<uid_t> AskForConnection(const HostAndPort& near, const HostAndPort& far) {
  const std::optional<End> here = EndOf(near);
  const std::optional<End> there = EndOf(far);
  if (!here.has_value() || !there.has_value() || here->family != there->family) return std::nullopt;
  return AskForSocket(*here, *there, TCP_ESTABLISHED);
}

}  // namespace trainyard
