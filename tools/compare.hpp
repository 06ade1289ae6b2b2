// What `trnsci compare` says of two files, for `trnsci fuzz files`.
#pragma once

#include <string>

namespace trn::tools {

// The comparison of two texts that --json wrote, as JSON; throws InvalidArgument where one is not such a text.
[[nodiscard]] std::string compared_texts(const std::string& first, const std::string& second);

}  // namespace trn::tools
