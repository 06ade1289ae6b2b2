// The settings of the drop-in LAPACK, which are those of the drop-in BLAS, and the report of the calls it served.
#include "calls.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include <trn/core/environment.hpp>

namespace trn::dropin {

namespace {

using Counts = std::array<std::atomic<long>, std::size(kKinds)>;
Counts& counts(bool on_host) {
  static Counts host{}, device{};
  return on_host ? host : device;
}

void print_report() {
  const auto line = [](const std::string& name, const Counts& c) {
    long sum = 0;
    std::string parts;
    for (std::size_t i = 0; i < std::size(kKinds); ++i) {
      const long n = c[i];
      sum += n;
      if (n > 0) parts += (parts.empty() ? "" : ", ") + std::string(kKinds[i]) + ": " + std::to_string(n);
    }
    std::fprintf(stderr, "trnlapack: %s served %ld calls%s\n", name.c_str(), sum,
                 parts.empty() ? "" : (" (" + parts + ")").c_str());
  };
  line("host", counts(true));
  if (!environment().on_host) line(environment().executor.name(), counts(false));
}

Environment read() {
  try {
    const Executor host = Executor::host();
    const std::string name = trn::environment("TRN_BLAS_EXECUTOR", "host");
    const Executor executor = name == "host" ? host : Executor::open(name);
    const Precision precision = Precision::parse(trn::environment("TRN_BLAS_PRECISION", "native"));
    return {host, executor, executor == host, precision, precision, environment_flag("TRN_BLAS_REPORT")};
  } catch (const std::exception& e) {
    std::fprintf(stderr, "trnlapack: environment: %s\n", e.what());
    std::exit(2);
  }
}

}  // namespace

const Environment& environment() {
  // Never destroyed: programs call LAPACK from their own exit handlers.
  static const Environment* settings = [] {
    auto* e = new Environment(read());
    if (e->report) {
      (void)counts(true);
      std::atexit(print_report);
    }
    return e;
  }();
  return *settings;
}

void count(Kind kind, bool on_host) {
  if (environment().report) counts(on_host)[static_cast<std::size_t>(kind)].fetch_add(1, std::memory_order_relaxed);
}

}  // namespace trn::dropin
