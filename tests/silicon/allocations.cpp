// operator new that counts: see allocations.hpp. Compiled alone, so that no compiler sees through it.
#include "silicon/allocations.hpp"

#include <cstdlib>
#include <new>

namespace {
thread_local std::uint64_t count = 0;
}

namespace trn::neuron::testing {
std::uint64_t allocations() { return count; }
}  // namespace trn::neuron::testing

void* operator new(std::size_t bytes) {
  ++count;
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (!memory) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
