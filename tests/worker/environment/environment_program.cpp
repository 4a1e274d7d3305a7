// A program that consists of `trainyard-worker environment`.
#include "worker/environment/environment.h"

int main(int argc, char** argv) { return trainyard::worker::RunEnvironment(argc, argv); }
