// run(): one thread for each rank.
//
// The number of threads of an OpenMP region is a property of the thread that begins it, and OpenBLAS (its OpenMP build)
// and core's loops ask for it at every call. So a rank that sets it to 1 works alone, and the ranks neither share nor
// wait for the process's team of threads.
#include <omp.h>

#include <exception>
#include <system_error>
#include <thread>
#include <trn/comm/group.hpp>
#include <trn/comm/settings.hpp>

#include "threads/transport.hpp"

namespace trn::comm {
namespace {

std::string message_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

}  // namespace

void run(const Group& group, const std::function<void(const Communicator&, const Executor&)>& program,
         const RunOptions& options) {
  const int ranks = group.size();
  const auto world = std::make_shared<threads::World>(ranks, watchdog_seconds(options.watchdog_seconds));
  const auto transports = threads::open(world, ranks);
  const Purpose purpose = current_purpose();
  std::mutex first_mutex;
  std::exception_ptr first;
  const auto rank_program = [&](int rank) {
    const PurposeScope scope(purpose);
    if (options.one_thread_per_rank) omp_set_num_threads(1);
    try {
      const Communicator plain(transports[static_cast<std::size_t>(rank)]);
      const Executor& executor = group.executor(rank);
      program(group.fabric() ? plain.with_fabric(*group.fabric(), group.placement(), executor) : plain, executor);
      world->returned(rank);
    } catch (...) {
      const std::exception_ptr error = std::current_exception();
      {
        const std::scoped_lock lock(first_mutex);
        if (!first) first = error;
      }
      world->failed(rank, message_of(error));
    }
  };
  std::vector<std::thread> threads;
  try {
    for (int r = 0; r < ranks; ++r) threads.emplace_back(rank_program, r);
  } catch (const std::system_error& e) {
    const auto missing = static_cast<int>(threads.size());
    world->failed(missing, fmt::format("the system gives it no thread: {}", e.what()));
    for (std::thread& t : threads) t.join();
    throw CommError(fmt::format("comm: the system gives rank {} of {} no thread: {}", missing, ranks, e.what()),
                    missing);
  }
  for (std::thread& t : threads) t.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace trn::comm
