// The program `trainyard-worker environment`, which becomes the program of a rank.
#ifndef TRAINYARD_WORKER_ENVIRONMENT_ENVIRONMENT_H_
#define TRAINYARD_WORKER_ENVIRONMENT_ENVIRONMENT_H_

namespace trainyard::worker {

// Prepares the environment of a job's section `environment` in this order: modules, Python
// environment, setup, container. Then replaces this process by the program. Returns an exit code
// only on failure, after one line on stderr that states the cause. README.md lists the exit codes.
// argv[0] is kEnvironmentMode.
int RunEnvironment(int argc, char** argv);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_ENVIRONMENT_ENVIRONMENT_H_
