// What a library says to those who call it, as the command line says it: with the operation that was named there,
// options instead of names of C++, and the word that was probably meant beside one that is not known.
#pragma once

#include <string>

namespace trn::tools {

// `command`: the words of the command that runs, without options: "bench blas.symm", "sparse info".
[[nodiscard]] std::string in_user_words(const std::string& message, const std::string& command);

}  // namespace trn::tools
