// blas.round for the command line.
#pragma once

#include <memory>

#include "operation.hpp"

namespace trn::tools {

[[nodiscard]] std::unique_ptr<Operation> round_operation();

}  // namespace trn::tools
