// The test program for mpirun: `ranks cases`, `ranks large`, `ranks repeat TIMES`, `ranks fault NAME`, `ranks measure`.
// Rank 0 prints how many comparisons there were, of all ranks together; the status is 1 where one of them failed.
#include <string>
#include <vector>

#include "cases.hpp"

namespace {

using namespace trn::comm;
using namespace trn::comm::ranks_test;

int run(const Communicator& world, const std::vector<std::string>& arguments) {
  if (arguments.empty()) throw trn::InvalidArgument("ranks: cases, large, repeat TIMES, fault NAME or measure");
  if (arguments[0] == "fault") return fault(world, arguments.at(1));
  Tally tally;
  if (arguments[0] == "cases") {
    transport_cases(world, std::int64_t{1} << 30U, tally);
    transport_cases(world, 1000, tally);
    mismatch_cases(world, tally);
    const Results results = operation_cases(world, tally);
    for (const auto& [name, bits] : results) {
      if (world.rank() == 0) fmt::print("bits {} {:016x}\n", name, bits);
    }
  } else if (arguments[0] == "repeat") {
    for (int times = std::stoi(arguments.at(1)); times > 0; --times) {
      transport_cases(world, 1000, tally);
      mismatch_cases(world, tally);
    }
  } else if (arguments[0] == "large") {
    large_case(world, tally);
  } else if (arguments[0] == "measure") {
    measure(world);
    return 0;
  } else {
    throw trn::InvalidArgument("ranks: there is no " + arguments[0]);
  }
  const std::int64_t mine[2] = {tally.compared, tally.wrong};
  std::vector<std::int64_t> all(static_cast<std::size_t>(2 * world.size()));
  world.transport().all_gather(mine, sizeof mine, all.data());
  std::int64_t compared = 0, wrong = 0;
  for (std::size_t r = 0; r < all.size(); r += 2) {
    compared += all[r];
    wrong += all[r + 1];
  }
  if (world.rank() == 0) fmt::print("{} ranks: {} comparisons, {} wrong\n", world.size(), compared, wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return mpi_main(argc, argv, [&](const Communicator& world) { return run(world, arguments); });
}
