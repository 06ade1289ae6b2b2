// The settings of the drop-in LAPACK, which are those of the drop-in BLAS, and the report of the calls it served.
#include "calls.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

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

}  // namespace

const Environment& environment() {
  // Never destroyed: programs call LAPACK from their own exit handlers.
  static const Environment* settings = [] {
    auto* e = new Environment(read_environment("trnlapack"));
    if (e->report) {
      (void)counts(true);
      std::atexit(print_report);
    }
    return e;
  }();
  return *settings;
}

void count(Kind kind, bool on_host) {
  if (on_host) note_host_call(environment(), "trnlapack");
  if (environment().report) counts(on_host)[static_cast<std::size_t>(kind)].fetch_add(1, std::memory_order_relaxed);
}

}  // namespace trn::dropin
