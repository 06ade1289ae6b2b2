// mpi_main: a program's life under MPI. Whatever way a rank leaves, the job ends, and one line says who and where.
#include <trn/comm_mpi/mpi.hpp>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <unistd.h>

#include "position.hpp"
#include "wire.hpp"

namespace trn::comm {

namespace {

using detail::Line;
using detail::position;

std::atomic<bool> running{false};  // between MPI_Init and the end of the program

struct Deadly {
  int number;
  const char* name;
};
constexpr std::array kDeadly{Deadly{SIGSEGV, "SIGSEGV"}, Deadly{SIGBUS, "SIGBUS"},   Deadly{SIGFPE, "SIGFPE"},
                             Deadly{SIGILL, "SIGILL"},   Deadly{SIGABRT, "SIGABRT"}, Deadly{SIGTERM, "SIGTERM"}};
std::array<struct sigaction, kDeadly.size()> previous;

// mpirun ends the other ranks with SIGTERM: those that wait say where, the rest are silent.
void on_signal(int number) {
  for (std::size_t i = 0; i < kDeadly.size(); ++i) {
    if (kDeadly[i].number != number) continue;
    const detail::Position& where = position();
    if (number != SIGTERM) {
      Line line;
      (line.rank(where) << ": " << kDeadly[i].name << " in or after ").operation(where).print();
    } else if (where.waiting != 0 && where.said == 0) {
      Line line;
      (line.rank(where) << " was ended while it waited in ").operation(where).print();
    }
    ::sigaction(number, &previous[i], nullptr);
    ::raise(number);
  }
}

void on_exit() {
  if (!running) return;
  Line line;
  (line.rank(position()) << " called exit() before the end of the program, after ").operation(position()).print();
  std::fflush(nullptr);
  ::_exit(1);  // without MPI_Finalize: mpirun ends the others
}

void watch_ends() {
  std::atexit(on_exit);
  struct sigaction action {};
  action.sa_handler = on_signal;
  ::sigemptyset(&action.sa_mask);
  action.sa_flags = SA_NODEFER;
  for (std::size_t i = 0; i < kDeadly.size(); ++i) ::sigaction(kDeadly[i].number, &action, &previous[i]);
}

[[noreturn]] void end_job(const char* message) {
  running = false;
  std::fflush(nullptr);
  Line line;
  (line.rank(position()) << ", in or after ").operation(position()) << ": " << message;
  line.print();
  PMPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

}  // namespace

int mpi_main(int argc, char** argv, const std::function<int(const Communicator&)>& program) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  }
  int status = 1;
  try {
    const Communicator world = mpi();
    position().rank = world.rank();
    position().size = world.size();
    running = true;
    watch_ends();
    status = program(world);
    world.transport().check({"end of program", {}});  // a rank that left while others go on is found here
    running = false;
  } catch (const std::exception& error) {
    end_job(error.what());
  } catch (...) {
    end_job("an exception without a message");
  }
  if (initialized == 0) MPI_Finalize();
  return status;
}

}  // namespace trn::comm

// MPI's own interface for such wrappers. mpirun names the rank in a text that does not always arrive.
extern "C" int MPI_Abort(MPI_Comm comm, int code) {
  using namespace trn::comm::detail;
  if (trn::comm::running) {
    Line line;
    (line.rank(position()) << " called MPI_Abort, in or after ").operation(position()).print();
  }
  return PMPI_Abort(comm, code);
}
