// Describes why a followed job waits.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_READING_WAITING_NOTE_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_READING_WAITING_NOTE_H_

#include <string>
#include <vector>

#include "cli/client/client.h"

namespace trainyard::cli {

// True for the states in which a job has no slots and waits for the scheduler or for a user.
bool IsWaiting(v1::JobState state);

// Returns the lines that state why the job waits, and for a paused job the advice. Empty if the
// controller does not answer: the caller's stream reports the loss of the controller.
std::vector<std::string> WaitingNotes(const std::string& job, Client& client);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_READING_WAITING_NOTE_H_
