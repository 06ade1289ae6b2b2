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

// What the form without exceptions gives goes to the same operator delete. The standard library's own calls the one
// below, a sanitizer's does not.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++count;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(std::size_t bytes) {
  void* memory = operator new(bytes, std::nothrow);
  if (!memory) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
