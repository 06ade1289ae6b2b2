// Links the core alone, in C++20 because the library asks for it.
#include <concepts>
#include <cstdio>

#include <trn/core/executor.hpp>

int main() { std::printf("%s\n", trn::Executor::host().name().c_str()); }
