// Sends due commands to the attached workers. Repeats commands that stay due.
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
  // Sends CommandsDue and ForgetAttempt to workers that have received their Welcome. Sends a
  // command again if the command is still due after a second, unless messages are still queued for
  // the worker.
  void SendDue(const ClusterView& view, const Sessions& sessions, const LinkStates& links,
               WorkerActions& actions);

 private:
  // Identifies a command by its message kind, job, attempt, and a number: the grace period in ms
  // for a stop, the generation for a heal.
  using CommandKey = std::tuple<int, int64_t, int64_t, int64_t>;
  using SentTimes = std::map<CommandKey, int64_t>;

  static CommandKey KeyOf(const v1::ControllerMessage& message);

  // The send time of each due command. A command's entry is removed when the command is no longer
  // due.
  std::map<LinkId, SentTimes> sent_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_COMMAND_SENDER_H_
