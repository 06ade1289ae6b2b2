// Free memory as Linux tells it in /proc/meminfo, whose numbers are KiB.
#include "memory.hpp"

#include <fstream>

#include <trn/core/error.hpp>

#include "output.hpp"

namespace trn::tools {

double free_memory() {
  std::ifstream in("/proc/meminfo");
  double total = 0, count = 0;
  std::string name, unit;
  while (in >> name >> count && std::getline(in, unit)) {
    if (name == "MemAvailable:" || name == "SwapFree:") total += 1024 * count;
  }
  return total;
}

void require_memory(const std::string& what, double bytes) {
  const double free = free_memory();
  if (free == 0 || bytes <= free) return;
  fail<Error>("{}: not enough memory for these sizes: they take at least {}, and {} are free; choose smaller ones",
              what, tools::bytes(bytes), tools::bytes(free));
}

}  // namespace trn::tools
