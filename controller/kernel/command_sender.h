// Sends due commands to the attached workers, and resends commands that stay due.
#ifndef TRAINYARD_CONTROLLER_KERNEL_COMMAND_SENDER_H_
#define TRAINYARD_CONTROLLER_KERNEL_COMMAND_SENDER_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "controller/core/commands.h"
#include "controller/core/schedule/cluster_view.h"
#include "controller/kernel/sessions.h"
#include "controller/kernel/worker_actions.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

class CommandSender {
 public:
  // Sends CommandsDue and ForgetAttempt to welcomed workers. Resends a command that is still due
  // after a second, unless messages are still queued for the worker.
  void SendDue(const ClusterView& view, const Sessions& sessions, const LinkStates& links,
               WorkerActions& actions);

 private:
  // Identity of a command: message kind, job, attempt, and the grace period in ms (stop) or the
  // generation (heal).
  using CommandKey = std::tuple<int, int64_t, int64_t, int64_t>;
  using SentTimes = std::map<CommandKey, int64_t>;

  static CommandKey KeyOf(const v1::ControllerMessage& message);

  // Send time of each command that is still due. A command that is no longer due has been answered.
  std::map<LinkId, SentTimes> sent_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_COMMAND_SENDER_H_
