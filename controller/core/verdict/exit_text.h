// Describes the exit of a rank.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_EXIT_TEXT_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_EXIT_TEXT_H_

#include <string>

#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

v1::VerdictCause CauseOf(const v1::Attempt& attempt, const v1::RankExited& exited);

// Returns what happened to the rank, such as "was ended by signal 9 (SIGKILL)". If a shell or a
// launcher reports that a signal ended a process below it, the text names the signal.
std::string WhatHappened(const v1::Attempt& attempt, const v1::RankExited& exited);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_EXIT_TEXT_H_
