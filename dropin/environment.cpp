// The settings of the drop-in BLAS and the report of the calls it served.
#include "environment.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace trn::dropin {

namespace {

struct Counts {
  std::array<std::atomic<long>, 3> host{}, device{};
};
Counts& counts() {
  static Counts c;
  return c;
}

void print_report() {
  const auto line = [](const std::string& name, const std::array<std::atomic<long>, 3>& c) {
    const long one = c[0], two = c[1], three = c[2];
    std::fprintf(stderr, "trnblas: %s served %ld calls (level 1: %ld, level 2: %ld, level 3: %ld)\n", name.c_str(),
                 one + two + three, one, two, three);
  };
  line("host", counts().host);
  if (!environment().on_host) line(environment().executor.name(), counts().device);
}

}  // namespace

const Environment& environment() {
  // Never destroyed: programs call BLAS from their own exit handlers.
  static const Environment* settings = [] {
    auto* e = new Environment(read_environment("trnblas"));
    if (e->report) {
      (void)counts();
      std::atexit(print_report);
    }
    return e;
  }();
  return *settings;
}

void count(Level level, bool on_host) {
  auto& family = on_host ? counts().host : counts().device;
  family[static_cast<std::size_t>(level)].fetch_add(1, std::memory_order_relaxed);
}

}  // namespace trn::dropin
