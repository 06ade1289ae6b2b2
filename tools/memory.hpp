// What the operands of a command take, held against what this machine has: refused before anything is filled. Systems
// promise memory that they do not have, and end a program that uses it.
#pragma once

#include <string>

namespace trn::tools {

// Memory and swap that are free or can be made free, in bytes; 0 where the system does not say.
[[nodiscard]] double free_memory();

// Throws Error unless `bytes` are free. `what`: the operation.
void require_memory(const std::string& what, double bytes);

}  // namespace trn::tools
