// Returns actions as short texts, so that expected actions read as a list. For example, "spawn
// 1/2/0" spawns rank 0 of attempt 2 of job 1.
#ifndef TRAINYARD_TESTS_WORKER_CORE_ACTION_TEXT_H_
#define TRAINYARD_TESTS_WORKER_CORE_ACTION_TEXT_H_

#include <string>
#include <vector>

#include "worker/core/attempts.h"

namespace trainyard::worker {

std::vector<std::string> Text(const Actions& actions);

// Returns reports as texts such as "1/2: 0 running, 1" and "1/2 cleared: 0, 1".
std::vector<std::string> Text(const std::vector<v1::AttemptReport>& reports);

// These functions return commands and answers that contain only the necessary fields.
v1::StartAttempt StartOf(int64_t job, int64_t attempt_number, int ranks);
// Returns a command with one process of several ranks, the last of which is `ranks` - 1.
v1::StartAttempt LauncherOf(int64_t job, int64_t attempt_number, int ranks);
v1::StopAttempt StopOf(int64_t job, int64_t attempt_number, int64_t grace_ms);
v1::ForgetAttempt ForgetOf(int64_t job, int64_t attempt_number);
v1::RankExited ExitOf(int64_t job, int64_t attempt_number, int rank, int code = 0);
RankKey Rank(int64_t job, int64_t attempt_number, int rank);

// Returns an attempt of job 1 whose ranks are all running.
Attempts Running(int64_t attempt_number, int ranks);

}  // namespace trainyard::worker

#endif  // TRAINYARD_TESTS_WORKER_CORE_ACTION_TEXT_H_
