// Child processes for tests of the cache. A child runs a function and ends without touching the test's own state.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <vector>

namespace trn::neuron::neff::testing {

// The body's answer is the child's exit status; 99 after an exception.
template <class Body> pid_t start(const Body& body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child != 0) return child;
  int status = 99;
  try {
    status = body();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "child: %s\n", e.what());
  }
  _exit(status);
}

// Its exit status, or minus the signal that ended it.
inline int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) continue;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace trn::neuron::neff::testing
