// Text that a terminal cannot take for commands.
#pragma once

#include <string>

namespace trn::tools {

// The whole text, control characters and bytes that are not UTF-8 as \xNN, whatever a file or its name holds. Ends of
// lines and letters of all languages stay.
[[nodiscard]] std::string harmless(const std::string& text);

}  // namespace trn::tools
