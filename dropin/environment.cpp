// The settings of the drop-in BLAS and the report of the calls it served.
#include "environment.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <trn/core/environment.hpp>
#include <trn/core/error.hpp>

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

Environment read() {
  try {
    const Executor host = Executor::host();
    const std::string name = trn::environment("TRN_BLAS_EXECUTOR", "host");
    const Executor executor = name == "host" ? host : Executor::open(name);
    const Precision precision = Precision::parse(trn::environment("TRN_BLAS_PRECISION", "native"));
    const bool sums = precision.has_target() || precision.mode() == Mode::Exact;
    return {host,
            executor,
            executor == host,
            precision,
            sums ? precision : Precision(),
            environment_flag("TRN_BLAS_REPORT")};
  } catch (const std::exception& e) {
    std::fprintf(stderr, "trnblas: environment: %s\n", e.what());
    std::exit(2);
  }
}

}  // namespace

const Environment& environment() {
  // Never destroyed: programs call BLAS from their own exit handlers.
  static const Environment* settings = [] {
    auto* e = new Environment(read());
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
