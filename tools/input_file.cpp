// Files that a command reads: see input_file.hpp.
#include "input_file.hpp"

#include <filesystem>

#include <trn/core/error.hpp>

#include "near_names.hpp"

namespace trn::tools {

void require_readable(const std::string& what, const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const bool endless = fs::is_character_file(status) || fs::is_block_file(status) || fs::is_socket(status);
  require(!endless, "{}: '{}' is a device, not a file; give a file", what, printable(path));
  require(!fs::is_directory(status), "{}: '{}' is a directory, not a file; give a file", what, printable(path));
}

}  // namespace trn::tools
