// Files that a command reads: what has no end is refused before it is read.
#pragma once

#include <string>

namespace trn::tools {

// Throws InvalidArgument where `path` names a device, a socket or a folder; files and pipes are read, and what does not
// exist is left to the reader's own words. `what` opens the message.
void require_readable(const std::string& what, const std::string& path);

}  // namespace trn::tools
